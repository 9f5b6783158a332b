//! Measures of the visible gait: feet lifted too high, and a body too near the ground.

use crate::{ground::Ground, maths::V3};

/// A foot's sole at a time, in world space.
#[derive(Clone, Copy, Debug)]
pub struct Sole {
    /// Where it meets the floor under the heel.
    pub heel: V3,
    /// The same under the ball.
    pub ball: V3,
    /// Its foremost point.
    pub tip: V3,
}

impl Sole {
    /// Heel, ball, tip and what lies between heel and ball.
    pub fn points(&self) -> impl Iterator<Item = V3> {
        let (heel, ball, tip) = (self.heel, self.ball, self.tip);
        (0..5).map(move |i| heel.lerp(ball, 0.25 * f64::from(i))).chain([tip])
    }

    /// Height of the lowest of these points.
    pub fn lowest(&self) -> f64 {
        self.points().map(|p| p.y).fold(f64::MAX, f64::min)
    }
}

/// The string that is pulled taut over the ground from where a foot leaves it to where it comes down: the least upper
/// concave line over its heights along the way.
#[derive(Debug)]
struct String {
    corners: Vec<(f64, f64)>,
}

impl String {
    /// Over (way, height) in any order.
    fn over(mut points: Vec<(f64, f64)>) -> Self {
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut corners: Vec<(f64, f64)> = Vec::new();
        for p in points {
            while let [.., a, b] = corners[..]
                && (b.0 - a.0) * (p.1 - a.1) >= (p.0 - a.0) * (b.1 - a.1)
            {
                corners.pop();
            }
            corners.push(p);
        }
        Self { corners }
    }

    /// Its height; level beyond its ends.
    fn height(&self, at: f64) -> f64 {
        let next = self.corners.partition_point(|c| c.0 < at);
        match (next.checked_sub(1).map(|i| self.corners[i]), self.corners.get(next)) {
            (Some(a), Some(b)) => a.1 + (b.1 - a.1) * (at - a.0) / (b.0 - a.0).max(1e-12),
            (Some(end), None) => end.1,
            (None, Some(end)) => end.1,
            (None, None) => f64::NAN,
        }
    }
}

/// Largest lift of a foot over the taut string beyond that of the clip, for each of its steps: the key of the
/// largest lift, and the difference in metres. `stands` says at which keys
/// heel or ball stand; `floor` is the clip's.
pub fn lifts(
    planted: &[Sole],
    clip: &[Sole],
    stands: &[bool],
    ground: &Ground,
    floor: f64,
    reach: f64,
) -> Vec<(usize, f64)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(begin) = (from..stands.len()).find(|i| !stands[*i]) {
        let end = (begin..stands.len()).find(|i| stands[*i]).unwrap_or(stands.len());
        from = end;
        // Without a foothold at either end there is no string.
        if begin == 0 || end == stands.len() {
            continue;
        }
        let swing = begin - 1..=end;
        let way = (planted[end].heel - planted[begin - 1].heel).flat();
        let along = way.unit().unwrap_or_default();
        let mut points = Vec::new();
        for i in begin - 1..end {
            // Keys lie up to a quarter of a metre apart.
            for part in 0..=8 {
                let s = 0.125 * f64::from(part);
                let between = planted[i].points().zip(planted[i + 1].points()).map(|(a, b)| a.lerp(b, s));
                points.extend(between.filter_map(|p| Some((p.dot(along), ground.height(p, reach)?))));
            }
        }
        let string = String::over(points);
        let lift = |i: usize| {
            planted[i].points().map(|p| p.y - string.height(p.dot(along))).fold(f64::INFINITY, f64::min)
        };
        let own = swing.clone().map(|i| clip[i].lowest() - floor).fold(0.0, f64::max);
        let most = swing.map(|i| (i, lift(i))).max_by(|a, b| a.1.total_cmp(&b.1));
        found.extend(most.map(|(i, lift)| (i, lift - own)));
    }
    found
}

/// The mean height of the ground under a body, from `span` behind it to `span` ahead.
pub fn under(ground: &Ground, body: V3, along: V3, span: f64) -> Option<f64> {
    const POINTS: i32 = 20;
    let places = (-POINTS..=POINTS).map(|i| body + along * (span * f64::from(i) / f64::from(POINTS)));
    let heights: Vec<f64> = places.filter_map(|p| ground.height(p, 0.0)).collect();
    (!heights.is_empty()).then(|| heights.iter().sum::<f64>() / heights.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ground::tests::step, maths::v3};

    fn sole(z: f64, y: f64) -> Sole {
        Sole { heel: v3(0.0, y, z), ball: v3(0.0, y, z + 0.2), tip: v3(0.0, y, z + 0.26) }
    }

    #[test]
    fn a_string_is_taut_over_what_stands_up() {
        let s = String::over(vec![(0.0, 0.0), (1.0, 0.0), (1.0, 0.2), (1.5, 0.2), (3.0, 0.2), (2.0, -4.0)]);
        for (at, height) in
            [(0.0, 0.0), (0.5, 0.1), (1.0, 0.2), (2.2, 0.2), (3.0, 0.2), (9.0, 0.2), (-1.0, 0.0)]
        {
            assert!((s.height(at) - height).abs() < 1e-9, "{at}: {}", s.height(at));
        }
    }

    #[test]
    fn what_is_lifted_over_the_string_and_not_in_the_clip_is_found() {
        // From 60 cm before a step of 20 cm, over it 35 cm high, to 40 cm behind it.
        let planted: Vec<Sole> =
            [(0.4, 0.0), (0.6, 0.25), (0.9, 0.35), (1.2, 0.3), (1.4, 0.2)].map(|(z, y)| sole(z, y)).into();
        let clip: Vec<Sole> =
            [(0.4, 0.0), (0.6, 0.05), (0.9, 0.06), (1.2, 0.05), (1.4, 0.0)].map(|(z, y)| sole(z, y)).into();
        let stands = [true, false, false, false, true];
        let lifts = lifts(&planted, &clip, &stands, &step(), 0.0, 0.5);
        // The tip, at 1.16, is over the tread: 15 cm, of which 6 are the clip's own.
        assert_eq!(lifts.len(), 1);
        assert!(lifts[0].0 == 2 && (lifts[0].1 - 0.09).abs() < 1e-9, "{lifts:?}");
    }

    #[test]
    fn the_ground_under_a_body_is_that_of_its_stride() {
        let g = step();
        assert_eq!(under(&g, v3(0.0, 1.0, 0.0), v3(0.0, 0.0, 1.0), 0.5), Some(0.0));
        let mean = under(&g, v3(0.0, 1.0, 1.0), v3(0.0, 0.0, 1.0), 0.5).unwrap();
        assert!((mean - 0.1).abs() < 0.01, "{mean}");
    }
}
