//! Map of an arm's workspace: positions of the tip at random poses, with its manipulability.

use glam::DVec3;
use rayon::prelude::*;
use sinew::{
    joint::Range,
    mechanism::{LinkFrames, LinkId, Mechanism, ValuesError},
};

/// Number of cells along the longer side of a view.
pub const CELLS: usize = 220;
/// Number of poses that the extent of the map is found from.
const SCOUTS: u64 = 20_000;

/// Axes of each view in the root link's space: to the right, up, and along the line of sight.
pub const VIEWS: [(usize, usize, usize); 2] = [(0, 2, 1), (0, 1, 2)];

/// Map of a workspace.
pub struct Map {
    /// Minimum of the tip's positions, with a margin, in the root link's space, in metres.
    pub low: DVec3,
    /// Maximum of the tip's positions, with a margin, in the root link's space, in metres.
    pub high: DVec3,
    /// Side of a cell, in metres.
    pub cell: f64,
    /// For each view, the manipulability relative to the arm's best.
    pub views: [Grid; 2],
    /// Number of sampled poses.
    pub samples: u64,
    /// Greatest distance of the tip from the chain's first joint, in metres.
    pub reach: f64,
    /// Number of directions in which the tip can move: 3 for most arms, 2 for those that stay in a plane.
    pub directions: usize,
}

/// Cells of a view, row by row from below.
#[derive(Clone)]
pub struct Grid {
    pub columns: usize,
    pub rows: usize,
    /// Best manipulability in each cell; NaN if no sample was there.
    pub best: Vec<f32>,
}

/// A random number in \[0, 1) for a pose and a joint (splitmix64), the same on any number of threads.
fn uniform(pose: u64, joint: usize) -> f64 {
    let mut z =
        pose.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (joint as u64 + 1).wrapping_mul(0xd1b5_4a32_d192_ed03);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Forward kinematics of random poses, with its scratch memory.
struct Sampler<'a> {
    mechanism: &'a Mechanism,
    root: LinkId,
    tip: LinkId,
    ranges: Vec<(usize, f64, f64)>,
    values: Vec<f64>,
    placement: LinkFrames,
    columns: Vec<[f64; 6]>,
}

impl<'a> Sampler<'a> {
    fn new(mechanism: &'a Mechanism, root: LinkId, tip: LinkId) -> Self {
        let ranges = mechanism.dofs_between(root, tip).into_iter().map(|d| {
            let dof = &mechanism.dofs()[d];
            // With an infinite end, the sampled range is one turn or two metres wide.
            let free = if dof.slides() { 1.0 } else { std::f64::consts::PI };
            let Range { min, max } = dof.dof.range;
            let (low, high) = match (min.is_finite(), max.is_finite()) {
                (true, true) => (min, max),
                (true, false) => (min, min + 2.0 * free),
                (false, true) => (max - 2.0 * free, max),
                (false, false) => (-free, free),
            };
            (d, low, high)
        });
        Self {
            mechanism,
            root,
            tip,
            ranges: ranges.collect(),
            values: mechanism.rest(),
            placement: LinkFrames::new(mechanism),
            columns: Vec::new(),
        }
    }

    /// Position of the tip in the root link's space, in metres, at a pose.
    fn position(&mut self, pose: u64) -> Result<DVec3, ValuesError> {
        for (k, (dof, low, high)) in self.ranges.iter().enumerate() {
            self.values[*dof] = low + (high - low) * uniform(pose, k);
        }
        self.mechanism.forward_kinematics(&self.values, &mut self.placement)?;
        let tip = self.mechanism.link_transform(&self.placement, self.tip).translation;
        let root = self.mechanism.link_transform(&self.placement, self.root);
        Ok(root.matrix3.transpose() * (tip - root.translation))
    }

    /// Manipulability of the tip's position at the last pose, for one, two and three directions: the square roots of the
    /// invariants of J J^T. For three it is Yoshikawa's measure, the product of J's singular values.
    fn manipulability(&mut self) -> [f64; 3] {
        self.mechanism.jacobian(&self.placement, self.tip, DVec3::ZERO, &mut self.columns);
        let mut g = [[0.0; 3]; 3];
        for (dof, ..) in &self.ranges {
            let c = &self.columns[*dof];
            for (i, row) in g.iter_mut().enumerate() {
                for (j, cell) in row.iter_mut().enumerate() {
                    *cell += c[i] * c[j];
                }
            }
        }
        let minor = |a: usize, b: usize| g[a][a] * g[b][b] - g[a][b] * g[b][a];
        let determinant = g[0][0] * minor(1, 2) - g[0][1] * (g[1][0] * g[2][2] - g[1][2] * g[2][0])
            + g[0][2] * (g[1][0] * g[2][1] - g[1][1] * g[2][0]);
        let all = [g[0][0] + g[1][1] + g[2][2], minor(0, 1) + minor(0, 2) + minor(1, 2), determinant];
        all.map(|m| m.max(0.0).sqrt())
    }
}

/// Makes a map from random poses that are uniform within limits. The number of threads does not change it. `done` is called
/// with the number of `pieces` done.
pub fn sample(
    mechanism: &Mechanism,
    root: LinkId,
    tip: LinkId,
    samples: u64,
    pieces: u64,
    done: impl Fn(u64),
) -> Result<Map, ValuesError> {
    let mut sampler = Sampler::new(mechanism, root, tip);
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let mut max = [0.0f64; 3];
    for pose in 0..SCOUTS.min(samples) {
        let p = sampler.position(pose)?;
        (low, high) = (low.min(p), high.max(p));
        let m = sampler.manipulability();
        (0..3).for_each(|k| max[k] = max[k].max(m[k]));
    }
    // The tip cannot move in k directions if that measure is negligible beside the k-th power of the first.
    let size = max[0].max(1e-12);
    let directions = (1..=3).rev().find(|&k| max[k - 1] > 1e-6 * size.powi(k as i32)).unwrap_or(1);
    // The arm itself is drawn too.
    for p in chain(mechanism, root, tip) {
        (low, high) = (low.min(p), high.max(p));
    }
    // The margin covers positions that the first samples missed.
    let span = (high - low).max_element().max(1e-6);
    (low, high) = (low - DVec3::splat(0.04 * span), high + DVec3::splat(0.04 * span));
    let cell = (high - low).max_element() / CELLS as f64;
    let count = |axis: usize| ((high[axis] - low[axis]) / cell).ceil().max(1.0) as usize;
    let empty = VIEWS.map(|(u, v, _)| {
        let (columns, rows) = (count(u), count(v));
        Grid { columns, rows, best: vec![f32::NAN; columns * rows] }
    });
    let first = first_joint(mechanism, root, tip);
    let threads = rayon::current_num_threads().max(1) as u64;
    let mut all = empty.clone();
    let mut reach = 0.0f64;
    for piece in 0..pieces {
        let (from, to) = (samples * piece / pieces, samples * (piece + 1) / pieces);
        let parts: Vec<Result<([Grid; 2], f64), ValuesError>> = (0..threads)
            .into_par_iter()
            .map(|t| {
                let mut sampler = Sampler::new(mechanism, root, tip);
                let mut views = empty.clone();
                let mut reach = 0.0f64;
                for pose in from + (to - from) * t / threads..from + (to - from) * (t + 1) / threads {
                    let p = sampler.position(pose)?;
                    let measure = sampler.manipulability()[directions - 1] as f32;
                    reach = reach.max(p.distance(first));
                    for (grid, (u, v, _)) in views.iter_mut().zip(VIEWS) {
                        let at = |axis: usize| ((p[axis] - low[axis]) / cell) as usize;
                        if p[u] < low[u] || p[v] < low[v] || at(u) >= grid.columns || at(v) >= grid.rows {
                            continue;
                        }
                        let best = &mut grid.best[at(v) * grid.columns + at(u)];
                        // `max` of NaN and a number is the number.
                        *best = best.max(measure);
                    }
                }
                Ok((views, reach))
            })
            .collect();
        for part in parts {
            let (views, far) = part?;
            reach = reach.max(far);
            for (grid, part) in all.iter_mut().zip(views) {
                for (a, b) in grid.best.iter_mut().zip(part.best) {
                    *a = a.max(b);
                }
            }
        }
        done(piece + 1);
    }
    all.iter_mut().for_each(Grid::fill_pinholes);
    let top = all.iter().flat_map(|g| &g.best).copied().fold(0.0f32, f32::max).max(f32::MIN_POSITIVE);
    all.iter_mut().flat_map(|g| &mut g.best).for_each(|b| *b /= top);
    Ok(Map { low, high, cell, views: all, samples, reach, directions })
}

impl Grid {
    /// Gives an empty cell with six or more filled neighbours their mean: samples are sparse where the arm seldom is.
    fn fill_pinholes(&mut self) {
        let before = self.best.clone();
        for row in 1..self.rows.saturating_sub(1) {
            for column in 1..self.columns.saturating_sub(1) {
                let at = row * self.columns + column;
                if !before[at].is_nan() {
                    continue;
                }
                let around = [at - self.columns, at, at + self.columns]
                    .into_iter()
                    .flat_map(|mid| [before[mid - 1], before[mid], before[mid + 1]])
                    .filter(|b| !b.is_nan());
                let (sum, count) = around.fold((0.0, 0), |(sum, count), b| (sum + b, count + 1));
                if count >= 6 {
                    self.best[at] = sum / count as f32;
                }
            }
        }
    }
}

/// Positions of the links from the tip to the root at rest, in the root link's space, in metres. Empty if the root is not
/// above the tip.
pub fn chain(mechanism: &Mechanism, root: LinkId, tip: LinkId) -> Vec<DVec3> {
    let mut placement = LinkFrames::new(mechanism);
    let mut points = Vec::new();
    if !mechanism.is_below(tip, root)
        || mechanism.forward_kinematics(&mechanism.rest(), &mut placement).is_err()
    {
        return points;
    }
    let base = mechanism.link_transform(&placement, root);
    let mut at = Some(tip);
    while let Some(link) = at {
        let p = mechanism.link_transform(&placement, link).translation;
        points.push(base.matrix3.transpose() * (p - base.translation));
        at = if link == root { None } else { mechanism.link_parent(link) };
    }
    points
}

/// Position of the chain's first moving joint at rest, in the root link's space, in metres.
fn first_joint(mechanism: &Mechanism, root: LinkId, tip: LinkId) -> DVec3 {
    let mut placement = LinkFrames::new(mechanism);
    if mechanism.forward_kinematics(&mechanism.rest(), &mut placement).is_err() {
        return DVec3::ZERO;
    }
    let base = mechanism.link_transform(&placement, root);
    let mut first = tip;
    let mut at = Some(tip);
    while let Some(link) = at.filter(|&l| l != root) {
        if !mechanism.dofs_between(root, link).is_empty() {
            first = link;
        }
        at = mechanism.link_parent(link);
    }
    let position = mechanism.link_transform(&placement, first).translation;
    base.matrix3.transpose() * (position - base.translation)
}
