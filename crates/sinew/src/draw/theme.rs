//! Colours of shapes for light and dark backgrounds.

use super::{Shape, ShapeRole, ShapeState};
use crate::body::Side;

/// A background, with a colour for every shape before it.
///
/// Each colour has a contrast of at least 3 to its background (WCAG 2.2, criterion 1.4.11). Left, right, limits and goals stay
/// apart for people with protanopia and deuteranopia; so do the states of limits and goals. Left and right on light are blue
/// and vermilion of Okabe and Ito (2008), whose other colours are too light for a white page.
///
/// ```
/// use sinew::{body::Side, draw::{ShapeRole, ShapeState, Theme}};
/// let left = |theme: Theme| theme.color(ShapeRole::Bone, Some(Side::Left), ShapeState::Normal);
/// assert_eq!(left(Theme::Light), [0x00, 0x72, 0xb2]);
/// assert_ne!(left(Theme::Light), left(Theme::Dark));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Theme {
    /// Dark shapes on white.
    #[default]
    Light,
    /// Light shapes on near-black.
    Dark,
}

/// Opacity of a [`ShapeKind::Area`](super::ShapeKind::Area), 0 to 1. What is behind it stays visible; its outline carries the
/// contrast.
pub const AREA_OPACITY: f32 = 0.2;

impl Theme {
    /// Every theme.
    pub const ALL: [Self; 2] = [Self::Light, Self::Dark];

    /// The sRGB colour of the background. Contrasts on black are higher than on that of [`Theme::Dark`].
    pub const fn background(self) -> [u8; 3] {
        match self {
            Self::Light => [0xFF, 0xFF, 0xFF],
            Self::Dark => [0x14, 0x17, 0x1B],
        }
    }

    /// The sRGB colour by role, side of the body and state.
    pub const fn color(self, role: ShapeRole, side: Option<Side>, state: ShapeState) -> [u8; 3] {
        use ShapeRole as R;
        let [light, dark] = match (role, side, state) {
            (R::Limit | R::Needle, _, ShapeState::AtLimit) => [[0x6B, 0x42, 0x00], [0xFF, 0xF0, 0x4A]],
            (R::Goal | R::Residual, _, ShapeState::OutOfReach) => [[0x8A, 0x0A, 0x20], [0xE0, 0x52, 0x5C]],
            (R::Bone | R::JointMark, Some(Side::Left), _) => [[0x00, 0x72, 0xB2], [0x4F, 0x94, 0xFF]],
            (R::Bone | R::JointMark, Some(Side::Right), _) => [[0xD5, 0x5E, 0x00], [0xFF, 0x7A, 0x1F]],
            (R::Bone | R::JointMark, None, _) => [[0x4A, 0x50, 0x58], [0xD4, 0xDA, 0xE3]],
            (R::Goal | R::Residual | R::Handle, ..) => [[0x8A, 0x1A, 0x78], [0xC8, 0x78, 0xC4]],
            (R::Pole | R::Swivel | R::Preferred, ..) => [[0x8F, 0x7A, 0x10], [0xD0, 0xA8, 0x3A]],
            (R::Ray | R::Hit, ..) => [[0x0E, 0x85, 0x85], [0x4F, 0xB4, 0xAE]],
            (R::Ground, ..) => [[0x6B, 0x64, 0x59], [0xA3, 0x9A, 0x8C]],
            (R::Limit, ..) => [[0x3A, 0x9A, 0x72], [0x5F, 0xE3, 0x9A]],
            (R::Reference, ..) => [[0x80, 0x88, 0x90], [0x8A, 0x91, 0x9A]],
            (R::Needle, ..) => [[0x22, 0x27, 0x2E], [0xF2, 0xF4, 0xF7]],
            (R::AxisX, ..) => [[0xA8, 0x20, 0x20], [0xE8, 0x55, 0x4A]],
            (R::AxisY, ..) => [[0x2F, 0x9E, 0x44], [0x86, 0xE0, 0x92]],
            (R::AxisZ, ..) => [[0x24, 0x46, 0xB8], [0x6A, 0x8D, 0xFF]],
            (R::Path | R::Angle, ..) => [[0x74, 0x66, 0xC8], [0x9F, 0x9C, 0xF0]],
        };
        match self {
            Self::Light => light,
            Self::Dark => dark,
        }
    }

    /// The sRGB colour of a shape: its own, or that of its role, side and state.
    pub const fn color_of(self, shape: &Shape) -> [u8; 3] {
        match shape.own_color {
            Some(own) => own,
            None => self.color(shape.role, shape.side, shape.state),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const ROLES: [ShapeRole; 19] = [
        ShapeRole::Bone,
        ShapeRole::JointMark,
        ShapeRole::Goal,
        ShapeRole::Pole,
        ShapeRole::Ray,
        ShapeRole::Hit,
        ShapeRole::Ground,
        ShapeRole::Limit,
        ShapeRole::Reference,
        ShapeRole::Handle,
        ShapeRole::Swivel,
        ShapeRole::Needle,
        ShapeRole::Preferred,
        ShapeRole::Residual,
        ShapeRole::AxisX,
        ShapeRole::AxisY,
        ShapeRole::AxisZ,
        ShapeRole::Path,
        ShapeRole::Angle,
    ];
    const STATES: [ShapeState; 3] = [ShapeState::Normal, ShapeState::AtLimit, ShapeState::OutOfReach];

    /// Linear intensities, by the formula of WCAG 2.2 with the threshold of sRGB.
    fn linear(color: [u8; 3]) -> [f64; 3] {
        color.map(|c| match f64::from(c) / 255.0 {
            c if c <= 0.04045 => c / 12.92,
            c => ((c + 0.055) / 1.055).powf(2.4),
        })
    }

    fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }

    /// The contrast ratio of WCAG 2.2.
    fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
        let [a, b] = [a, b].map(|c| dot(linear(c), [0.2126, 0.7152, 0.0722]) + 0.05);
        a.max(b) / a.min(b)
    }

    /// Simulated vision in linear sRGB (Machado, Oliveira and Fernandes 2009, severity 1): none, protanopia, deuteranopia.
    const VISIONS: [[[f64; 3]; 3]; 3] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ];

    /// CIE L*a*b* of a colour as it is seen, for the white of D65.
    fn lab(color: [u8; 3], vision: [[f64; 3]; 3]) -> [f64; 3] {
        let seen = vision.map(|row| dot(row, linear(color)).clamp(0.0, 1.0));
        let [x, y, z] = [
            ([0.412_456_4, 0.357_576_1, 0.180_437_5], 0.95047),
            ([0.212_672_9, 0.715_152_2, 0.072_175], 1.0),
            ([0.019_333_9, 0.119_192, 0.950_304_1], 1.08883),
        ]
        .map(|(row, white)| match dot(row, seen) / white {
            t if t > 216.0 / 24389.0 => t.cbrt(),
            t => (24389.0 / 27.0 * t + 16.0) / 116.0,
        });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// The smallest distance of two colours as they are seen with any of the visions (CIE 1976). 2.3 is just noticeable.
    fn apart(a: [u8; 3], b: [u8; 3]) -> f64 {
        let distance = |vision| {
            let [a, b] = [a, b].map(|color| lab(color, vision));
            a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        };
        VISIONS.into_iter().map(distance).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn every_colour_stands_out_from_its_background() {
        // The ratio of black and white, and a published one: #767676 is the lightest grey of 4.5 on white.
        assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-9);
        assert!(contrast([0x76; 3], [255; 3]) >= 4.5 && contrast([0x77; 3], [255; 3]) < 4.5);
        for theme in Theme::ALL {
            for role in ROLES {
                for side in [None, Some(Side::Left), Some(Side::Right)] {
                    for state in STATES {
                        let color = theme.color(role, side, state);
                        let found = contrast(color, theme.background());
                        assert!(found >= 3.0, "{theme:?} {role:?} {side:?} {state:?}: {found:.2}");
                    }
                }
            }
        }
    }

    #[test]
    fn colours_stay_apart_for_the_colour_blind() {
        use ShapeRole::{AxisX, AxisY, AxisZ, Bone, Goal, Limit};
        for theme in Theme::ALL {
            let of = |role, side| theme.color(role, side, ShapeState::Normal);
            let main =
                [of(Bone, Some(Side::Left)), of(Bone, Some(Side::Right)), of(Limit, None), of(Goal, None)];
            let axes = [AxisX, AxisY, AxisZ].map(|role| of(role, None));
            let states = [(Limit, ShapeState::AtLimit), (Goal, ShapeState::OutOfReach)]
                .map(|(role, state)| [of(role, None), theme.color(role, None, state)]);
            let groups = [(&main[..], 20.0), (&axes, 15.0), (&states[0], 20.0), (&states[1], 20.0)];
            for (group, least) in groups {
                for (n, &a) in group.iter().enumerate() {
                    let others: Vec<f64> = group[n + 1..].iter().map(|&b| apart(a, b)).collect();
                    assert!(others.iter().all(|d| *d >= least), "{theme:?} {a:x?}: {others:.1?}");
                }
            }
        }
    }
}
