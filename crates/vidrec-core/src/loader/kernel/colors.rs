//! Colors: the channels of a picture, maps of colors, and one affine map from decoded planes to the channels.

/// The channels of a picture.
///
/// As a word (serde): `rgb`, `gray` or `ycbcr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Channels {
    /// Red, green, blue. The default.
    #[default]
    Rgb,
    /// Luma alone, one channel. It uses the first values of [`Normalize`](crate::loader::Normalize). Chroma is not used.
    Gray,
    /// Luma and chroma, full-range BT.601 as in JFIF. Neutral chroma is 128 of 255.
    YCbCr,
}

impl Channels {
    /// The number of channels: 3, or 1 for [`Gray`](Self::Gray).
    pub fn count(self) -> usize {
        if self == Channels::Gray { 1 } else { 3 }
    }
}

/// An affine map of (red, green, blue), with levels of 0 to 255 before and after: `rows * rgb + offset`, then
/// clamped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColorMatrix {
    /// One row for each channel of the result.
    pub rows: [[f32; 3]; 3],
    /// Added to each channel of the result.
    pub offset: [f32; 3],
}

impl ColorMatrix {
    /// The map that changes nothing.
    pub const IDENTITY: ColorMatrix =
        ColorMatrix { rows: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], offset: [0.0; 3] };

    /// Keeps `factor` of each pixel, and takes the rest from a mix of its channels and a constant.
    pub(crate) fn blend(factor: f32, mix: [f32; 3], constant: f32) -> Self {
        let rest = 1.0 - factor;
        let rows = Self::IDENTITY.rows.map(|row| std::array::from_fn(|c| factor * row[c] + rest * mix[c]));
        ColorMatrix { rows, offset: [rest * constant; 3] }
    }

    /// Returns the map that applies this map, then `next`.
    pub(crate) fn then(self, next: ColorMatrix) -> Self {
        let dot = |row: [f32; 3], column: [f32; 3]| row[0] * column[0] + row[1] * column[1] + row[2] * column[2];
        let column = |c: usize| self.rows.map(|row| row[c]);
        ColorMatrix {
            rows: next.rows.map(|row| std::array::from_fn(|c| dot(row, column(c)))),
            offset: std::array::from_fn(|r| dot(next.rows[r], self.offset) + next.offset[r]),
        }
    }
}

/// Conversions that are compiled apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Full,
    /// Luma and chroma become red, green and blue without a change of colors: red needs no blue chroma, and blue needs no
    /// red chroma.
    Plain,
    /// Each channel depends on its own plane alone.
    Levels,
}

impl Kind {
    /// Factors that are 0, as (channel, plane).
    pub const fn zeros(self) -> &'static [(usize, usize)] {
        match self {
            Kind::Full => &[],
            Kind::Plain => &[(0, 1), (2, 2)],
            Kind::Levels => &[(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)],
        }
    }
}

/// The part of red in luma, BT.601.
const KR: f64 = 0.299;
/// The part of green in luma.
const KG: f64 = 1.0 - KR - KB;
/// The part of blue in luma.
const KB: f64 = 0.114;

/// The affine map `rows * x + offset`.
#[derive(Debug, Clone, Copy)]
struct Affine {
    rows: [[f64; 3]; 3],
    offset: [f64; 3],
}

impl Affine {
    const IDENTITY: Affine = Affine { rows: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], offset: [0.0; 3] };

    /// The map from JFIF's luma and chroma to red, green and blue.
    fn from_ycc() -> Self {
        let (r, b) = (2.0 * (1.0 - KR), 2.0 * (1.0 - KB));
        let (g_b, g_r) = (-b * KB / KG, -r * KR / KG);
        let rows = [[1.0, 0.0, r], [1.0, g_b, g_r], [1.0, b, 0.0]];
        Affine { rows, offset: rows.map(|[_, cb, cr]| -128.0 * (cb + cr)) }
    }

    /// The inverse.
    fn to_ycc() -> Self {
        let luma = [KR, KG, KB];
        let chroma = |of: usize| {
            let difference: [f64; 3] = std::array::from_fn(|i| f64::from(u8::from(i == of)) - luma[i]);
            difference.map(|d| d / (2.0 * (1.0 - luma[of])))
        };
        Affine { rows: [luma, chroma(2), chroma(0)], offset: [0.0, 128.0, 128.0] }
    }

    /// Applies `self` first, then `next`.
    fn then(self, next: Affine) -> Self {
        let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let column = |c: usize| self.rows.map(|row| row[c]);
        let rows = next.rows.map(|row| [dot(row, column(0)), dot(row, column(1)), dot(row, column(2))]);
        Affine { rows, offset: std::array::from_fn(|i| dot(next.rows[i], self.offset) + next.offset[i]) }
    }
}

/// A map from three planes to the samples of a picture: `clamp(rows * planes + offset, low, high)`.
#[derive(Debug, Clone)]
pub(super) struct Conversion {
    pub rows: [[f32; 3]; 3],
    pub offset: [f32; 3],
    pub low: [f32; 3],
    pub high: [f32; 3],
}

impl Conversion {
    /// Creates the map to levels of 0 to 255, from luma and chroma or else from red, green and blue. `unit` is the value of a
    /// level of 1 in the planes.
    pub fn new(is_ycc: bool, matrix: &ColorMatrix, channels: Channels, unit: f64) -> Self {
        let jitter = Affine { rows: matrix.rows.map(|row| row.map(f64::from)), offset: matrix.offset.map(f64::from) };
        let from = if is_ycc { Affine::from_ycc() } else { Affine::IDENTITY };
        let to = if channels == Channels::Rgb { Affine::IDENTITY } else { Affine::to_ycc() };
        let Affine { rows, offset } = from.then(jitter).then(to);
        // A factor that would be 0 without rounding errors becomes 0, because luma from luma needs no chroma.
        let clean = |v: f64| if v.abs() < 1e-6 { 0.0 } else { v };
        Conversion {
            rows: rows.map(|row| row.map(|v| (clean(v) / unit) as f32)),
            offset: offset.map(|v| clean(v) as f32),
            low: [0.0; 3],
            high: [255.0; 3],
        }
    }

    /// Returns the same map, followed by normalization: `(level / 255 - mean) / std`.
    ///
    /// A whole level becomes `level * scale + bias` in single precision, because the unit is a power of 2.
    pub fn normalized(&self, mean: [f32; 3], std: [f32; 3]) -> Self {
        let scale = std.map(|std| 1.0 / (255.0 * std));
        let normalize = |c: usize, level: f32| level * scale[c] - mean[c] / std[c];
        let ends = |c: usize| (normalize(c, 0.0), normalize(c, 255.0));
        Conversion {
            rows: std::array::from_fn(|c| self.rows[c].map(|v| v * scale[c])),
            offset: std::array::from_fn(|c| normalize(c, self.offset[c])),
            // The standard deviation may be negative.
            low: std::array::from_fn(|c| ends(c).0.min(ends(c).1)),
            high: std::array::from_fn(|c| ends(c).0.max(ends(c).1)),
        }
    }

    /// The kind of a conversion: how many of its factors are 0.
    pub fn kind(&self) -> Kind {
        let is = |kind: &Kind| kind.zeros().iter().all(|&(channel, plane)| self.rows[channel][plane] == 0.0);
        // With a factor above 0, a sum has the same bits with and without the zeros.
        let is_positive = (0..3).all(|channel| self.rows[channel][channel] > 0.0);
        [Kind::Levels].into_iter().filter(|_| is_positive).chain([Kind::Plain]).find(is).unwrap_or(Kind::Full)
    }

    /// Whether levels in units of 1 / `unit` stay as they are.
    pub fn is_identity(&self, unit: f64) -> bool {
        let own = |row: [f32; 3], c: usize| f64::from(row[c]) * unit == 1.0;
        self.kind() == Kind::Levels && self.offset == [0.0; 3] && (0..3).all(|c| own(self.rows[c], c))
    }

    /// Whether the first `channels` of the picture depend on more than the first plane.
    pub fn needs_chroma(&self, channels: usize) -> bool {
        self.rows[..channels].iter().any(|row| row[1] != 0.0 || row[2] != 0.0)
    }
}
