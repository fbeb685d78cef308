// From values to positions and back, and tick placement.
function linearScale(low, high, from, to) {
  const span = high - low || 1;
  const place = (value) => from + ((value - low) / span) * (to - from);
  return { place, low, high, ticks: linearTicks(low, high), log: false };
}

function linearTicks(low, high) {
  const rough = (high - low || 1) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough * 0.999);
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n++) ticks.push(Number((n * step).toPrecision(12)));
  return ticks;
}

function logScale(low, high, from, to) {
  const [a, b] = [Math.log10(low), Math.log10(high)];
  const place = (value) => from + ((Math.log10(Math.max(value, low / 10)) - a) / (b - a || 1)) * (to - from);
  return { place, low, high, ticks: logTicks(low, high), log: true };
}

function logTicks(low, high) {
  const decades = Math.log10(high / low);
  const steps = decades <= 0.8 ? [1, 1.5, 2, 3, 5, 7] : decades <= 2.6 ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(decades / 7));
  const ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
    if (e % every) continue;
    for (const step of steps) {
      const tick = Number((step * 10 ** e).toPrecision(6));
      if (tick >= low * 0.9999 && tick <= high * 1.0001) ticks.push(tick);
    }
  }
  // between round numbers there may be none: then the axis is short enough for equal steps
  return ticks.length < 2 ? linearTicks(low, high) : ticks;
}

function scaleFor(axis, values, from, to, fromZero) {
  const known = values.filter((value) => Number.isFinite(value));
  if (axis.log) {
    const positive = known.filter((value) => value > 0);
    if (!positive.length) return logScale(1, 10, from, to);
    const [low, high] = [Math.min(...positive), Math.max(...positive)];
    return logScale(low / 1.08, high === low ? high * 2 : high * 1.08, from, to);
  }
  if (!known.length) known.push(0);
  const high = Math.max(...known, fromZero ? 0 : -Infinity);
  const low = fromZero ? Math.min(0, ...known) : Math.min(...known);
  const scale = linearScale(low, high === low ? low + 1 : high, from, to);
  if (!fromZero) return scale;
  const step = scale.ticks[1] - scale.ticks[0] || 1;
  return linearScale(low, Math.ceil(scale.high / step - 0.15) * step || 1, from, to);
}
