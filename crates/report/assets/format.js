// Numbers for human readers: three significant digits, thin spaces.
const THIN = "\u202f";

function grouped(digits) {
  return digits.length > 4 ? digits.replace(/\B(?=(\d{3})+$)/g, THIN) : digits;
}

function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (size < 1e-4) return sign + tiny(size);
  if (size >= 1e6) return sign + grouped(String(Math.round(Number(size.toPrecision(3)))));
  const text = size.toPrecision(3);
  if (text.includes("e") || size >= 100) return sign + grouped(String(Math.round(Number(text))));
  return sign + text;
}

function tiny(size) {
  const [digits, exponent] = size.toExponential(2).split("e");
  return digits + "·10" + [...exponent.replace("+", "")].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("");
}

// A number on an axis, without superfluous digits.
function short(value) {
  if (value !== 0 && Math.abs(value) < 1e-3) {
    return "10" + [...String(Math.round(Math.log10(Math.abs(value))))].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("");
  }
  const rounded = Number(value.toPrecision(6));
  return Math.abs(rounded) >= 1e4 ? grouped(String(rounded)) : String(rounded).replace("-", "−");
}

function withUnit(value, unit) {
  if (unit === "×") return number(value) + "×";
  return unit ? number(value) + THIN + unit : number(value);
}

function count(value) {
  return grouped(String(Math.round(value)));
}

function bytes(value) {
  for (const [scale, unit] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]) {
    if (value >= 0.9995 * scale) return number(value / scale) + THIN + unit;
  }
  return count(value) + THIN + "B";
}

function axisName(axis) {
  return axis.unit && axis.unit !== "×" ? axis.name + ", " + axis.unit : axis.name;
}
