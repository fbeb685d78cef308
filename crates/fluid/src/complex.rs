//! The complex numbers and small linear systems that frequency responses need.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Complex {
    /// Zero.
    pub const ZERO: Complex = Complex { re: 0.0, im: 0.0 };
    /// One.
    pub const ONE: Complex = Complex { re: 1.0, im: 0.0 };

    /// The number `re + j im`.
    #[must_use]
    pub const fn new(re: f64, im: f64) -> Complex {
        Complex { re, im }
    }

    /// A number on the imaginary axis.
    #[must_use]
    pub const fn imaginary(im: f64) -> Complex {
        Complex { re: 0.0, im }
    }

    /// `exp(j angle)`.
    #[must_use]
    pub fn turn(angle: f64) -> Complex {
        Complex { re: angle.cos(), im: angle.sin() }
    }

    /// Distance from zero.
    #[must_use]
    pub fn abs(self) -> f64 {
        self.re.hypot(self.im)
    }

    /// Angle in radians, in (-pi, pi].
    #[must_use]
    pub fn arg(self) -> f64 {
        self.im.atan2(self.re)
    }

    /// The squared distance from zero.
    #[must_use]
    pub fn square(self) -> f64 {
        self.re * self.re + self.im * self.im
    }
}

impl From<f64> for Complex {
    fn from(re: f64) -> Complex {
        Complex { re, im: 0.0 }
    }
}

impl Add for Complex {
    type Output = Complex;
    fn add(self, other: Complex) -> Complex {
        Complex::new(self.re + other.re, self.im + other.im)
    }
}

impl Sub for Complex {
    type Output = Complex;
    fn sub(self, other: Complex) -> Complex {
        Complex::new(self.re - other.re, self.im - other.im)
    }
}

impl Mul for Complex {
    type Output = Complex;
    fn mul(self, other: Complex) -> Complex {
        Complex::new(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
    }
}

impl Mul<f64> for Complex {
    type Output = Complex;
    fn mul(self, factor: f64) -> Complex {
        Complex::new(self.re * factor, self.im * factor)
    }
}

impl Div for Complex {
    type Output = Complex;
    fn div(self, other: Complex) -> Complex {
        let by = other.square();
        Complex::new(
            (self.re * other.re + self.im * other.im) / by,
            (self.im * other.re - self.re * other.im) / by,
        )
    }
}

impl Neg for Complex {
    type Output = Complex;
    fn neg(self) -> Complex {
        Complex::new(-self.re, -self.im)
    }
}

/// The determinant, by elimination with the greatest pivot.
#[must_use]
pub fn determinant<const N: usize>(mut rows: [[Complex; N]; N]) -> Complex {
    let mut product = Complex::ONE;
    for column in 0..N {
        let greater = |a: &usize, b: &usize| rows[*a][column].square().total_cmp(&rows[*b][column].square());
        let pivot = (column..N).max_by(greater).unwrap_or(column);
        if rows[pivot][column].square() == 0.0 {
            return Complex::ZERO;
        }
        if pivot != column {
            rows.swap(pivot, column);
            product = -product;
        }
        let top = rows[column];
        product = product * top[column];
        for row in &mut rows[column + 1..] {
            let factor = row[column] / top[column];
            for (cell, above) in row.iter_mut().zip(top).skip(column) {
                *cell = *cell - factor * above;
            }
        }
    }
    product
}

/// The first component of the solution of `rows x = right`, by Cramer's rule, which suffices for these small and
/// well-scaled systems.
#[must_use]
pub fn first_of_solution<const N: usize>(rows: [[Complex; N]; N], right: [Complex; N]) -> Complex {
    determinant(replaced(rows, right)) / determinant(rows)
}

/// A matrix with another first column.
#[must_use]
pub fn replaced<const N: usize>(mut rows: [[Complex; N]; N], column: [Complex; N]) -> [[Complex; N]; N] {
    for (row, value) in rows.iter_mut().zip(column) {
        row[0] = value;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn determinants_of_known_matrices() {
        let c = |re: f64| Complex::from(re);
        let rows = [[c(0.0), c(2.0), c(1.0)], [c(1.0), c(1.0), c(0.0)], [c(3.0), c(0.0), c(4.0)]];
        assert!((determinant(rows) - c(-11.0)).abs() < 1e-12);
        let j = Complex::imaginary(1.0);
        assert!((determinant([[j, c(1.0)], [c(1.0), j]]) - c(-2.0)).abs() < 1e-12);
    }

    #[test]
    fn the_first_unknown_of_a_system() {
        let j = Complex::imaginary(1.0);
        let rows = [[j, Complex::ONE], [Complex::ONE, Complex::from(2.0)]];
        let x = [Complex::new(1.0, -2.0), Complex::new(0.5, 3.0)];
        let right = [rows[0][0] * x[0] + rows[0][1] * x[1], rows[1][0] * x[0] + rows[1][1] * x[1]];
        assert!((first_of_solution(rows, right) - x[0]).abs() < 1e-12);
    }
}
