//! Paths that a creature walks along.

use glam::{DVec3, Vec3};
use sinew::ground::TriangleMesh;
use sinew_files::read_file;

use crate::{args::WalkArgs, failure::Failure};

/// A path over ground, as points at equal distances.
#[derive(Clone, Debug)]
pub struct Trail {
    points: Vec<Vec3>,
    step: f32,
    closed: bool,
}

/// Largest number of points of a path.
const MOST: usize = 100_000;

/// The path of the command line.
pub fn trail(args: &WalkArgs) -> Result<Option<Trail>, Failure> {
    if let Some(radius) = args.circle {
        const COUNT: usize = 720;
        // From the +X side, the way that a positive turn takes.
        let at = |n: usize| {
            let angle = std::f32::consts::TAU * n as f32 / COUNT as f32;
            Vec3::new(radius * angle.cos(), 0.0, -radius * angle.sin())
        };
        let points: Vec<Vec3> = (0..COUNT).map(at).collect();
        let step = points[0].distance(points[1]);
        return Ok(Some(Trail { points, step, closed: true }));
    }
    let Some(path) = &args.path else { return Ok(None) };
    let failed = |what: String| Failure::Work(format!("{}: {what}", path.display()));
    let given: Vec<[f32; 2]> = serde_json::from_slice(&read_file(path)?)
        .map_err(|e| failed(format!("a path is [[x, z], ...]: {e}")))?;
    let given: Vec<Vec3> = given.iter().map(|[x, z]| Vec3::new(*x, 0.0, *z)).collect();
    if let Some(n) = given.iter().position(|p| !p.is_finite()) {
        return Err(failed(format!("point {n} is not finite")));
    }
    let length: f32 = given.windows(2).map(|w| w[0].distance(w[1])).sum();
    if !(length > 0.0 && length.is_finite()) {
        return Err(failed("a path takes at least two points at different places".into()));
    }
    let step = (length / 1000.0).max(length / MOST as f32);
    let mut points = vec![given[0]];
    let mut due = step;
    for w in given.windows(2) {
        let long = w[0].distance(w[1]);
        while due <= long {
            points.push(w[0].lerp(w[1], due / long));
            due += step;
        }
        due -= long;
    }
    Ok(Some(Trail { points, step, closed: false }))
}

/// Velocity ahead and to the left in m/s, and turn in rad/s, from a time in seconds on.
pub type Order = (f32, [f32; 3]);

/// The commands of the command line, from the first on.
pub fn orders(args: &WalkArgs, speed: f32) -> Result<Vec<Order>, Failure> {
    let Some(path) = &args.commands else { return Ok(vec![(0.0, [speed, args.sideways, args.turn])]) };
    let failed = |what: String| Failure::Work(format!("{}: {what}", path.display()));
    let given: Vec<[f32; 4]> = serde_json::from_slice(&read_file(path)?)
        .map_err(|e| failed(format!("commands are [[time, ahead, left, turn], ...]: {e}")))?;
    if given.is_empty() {
        return Err(failed("there is no command".into()));
    }
    if let Some(n) = given.iter().position(|c| c.iter().any(|v| !v.is_finite())) {
        return Err(failed(format!("command {n} is not finite")));
    }
    if let Some(n) = given.windows(2).position(|w| w[1][0] <= w[0][0]) {
        return Err(failed(format!("command {} does not come after the one before it", n + 1)));
    }
    Ok(given.into_iter().map(|[time, ahead, left, turn]| (time, [ahead, left, turn])).collect())
}

/// The command at a time; none before the first.
pub fn order(orders: &[Order], time: f32) -> [f32; 3] {
    // A time on a command, to a tenth of a millisecond.
    let next = orders.partition_point(|(from, _)| *from <= time + 1e-4);
    next.checked_sub(1).map_or([0.0; 3], |n| orders[n].1)
}

/// Where commands lead without a path: positions over ground, with velocities of at most `most` m/s ahead and aside.
pub fn way(orders: &[Order], seconds: f32, most: f32) -> Vec<Vec3> {
    let step = (seconds / 2000.0).max(1.0 / 30.0);
    let (mut at, mut yaw) = (Vec3::ZERO, 0.0f32);
    let mut points = vec![at];
    for n in 0..(seconds / step).ceil() as usize {
        let [ahead, left, turn] = order(orders, n as f32 * step);
        let [ahead, left] = [ahead, left].map(|v| v.clamp(-most, most));
        yaw += turn * step;
        at += (Vec3::new(yaw.sin(), 0.0, yaw.cos()) * ahead + Vec3::new(yaw.cos(), 0.0, -yaw.sin()) * left)
            * step;
        points.push(at);
    }
    points
}

/// The middle of a ground seen from above: the centroid of its area, as its edge may have any shape.
fn middle(mesh: &TriangleMesh) -> Vec3 {
    let (mut sum, mut all) = (DVec3::ZERO, 0.0);
    for triangle in &mesh.triangles {
        let [a, b, c] =
            triangle.map(|i| mesh.positions.get(i as usize).copied().unwrap_or_default().as_dvec3());
        let area = (b - a).cross(c - a).y.abs();
        sum += (a + b + c) * (area / 3.0);
        all += area;
    }
    if all > 0.0 { (sum / all).as_vec3().with_y(0.0) } else { Vec3::ZERO }
}

impl Trail {
    /// The points, in metres.
    pub fn points(&self) -> &[Vec3] {
        &self.points
    }

    /// Length in metres.
    pub fn length(&self) -> f32 {
        self.step * self.points.len() as f32
    }

    /// The path over the middle of a ground, where it is a circle about it.
    pub fn on(mut self, mesh: &TriangleMesh, centred: bool) -> Self {
        if centred {
            let middle = middle(mesh);
            self.points.iter_mut().for_each(|p| *p += middle);
        }
        self
    }

    /// Where it starts, and the heading there; of a creature that walks backwards, the other way.
    pub fn start(&self, backwards: bool) -> (Vec3, f32) {
        let d = self.points[1] - self.points[0];
        let d = if backwards { -d } else { d };
        (self.points[0], d.x.atan2(d.z))
    }

    /// The point at a distance along the path.
    fn at(&self, along: f32) -> Vec3 {
        let n = (along / self.step).max(0.0);
        let (count, i) = (self.points.len(), n.floor() as usize);
        let wrap = |i: usize| if self.closed { i % count } else { i.min(count - 1) };
        self.points[wrap(i)].lerp(self.points[wrap(i + 1)], n - n.floor())
    }

    /// Steers by pure pursuit: the turn in rad/s towards a point ahead, the distance from the path, and whether the end is
    /// reached. `progress` is the distance along the path so far.
    pub fn steer(&self, at: Vec3, front: Vec3, progress: &mut f32, speed: f32, leg: f32) -> (f32, f32, bool) {
        let off = |along: f32| (self.at(along) - at).with_y(0.0).length();
        // The path's nearest point goes forwards only.
        let reach = 0.5 * leg;
        for _ in 0..200 {
            let next = *progress + 0.02 * leg;
            if off(next) > off(*progress) {
                break;
            }
            *progress = next;
        }
        let end = (self.points.len() - 1) as f32 * self.step;
        let done = !self.closed && *progress >= end - 0.01 * leg;
        let aim = (self.at(*progress + reach) - at).with_y(0.0);
        let heading = if speed < 0.0 { -front } else { front };
        let side = heading.z * aim.x - heading.x * aim.z;
        let ahead = heading.dot(aim);
        let angle = side.atan2(ahead);
        let turn = 2.0 * speed.abs() * angle.sin() / aim.length().max(0.1 * leg);
        (turn, off(*progress), done)
    }
}
