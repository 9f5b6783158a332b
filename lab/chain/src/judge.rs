//! Forward kinematics in f64 from local transforms, independent of every contender's.

pub type V = [f64; 3];

fn add(a: V, b: V) -> V {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

fn scale(a: V, k: f64) -> V {
    a.map(|c| c * k)
}

fn dot(a: V, b: V) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: V, b: V) -> V {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// A joint in its parent's frame: offset, and rotation as x, y, z, w.
#[derive(Clone, Copy, Debug)]
pub struct Local {
    pub offset: [f32; 3],
    pub rotation: [f32; 4],
}

/// A vector turned by a quaternion whose length is divided out (Rodrigues' formula).
fn turn(q: [f64; 4], p: V) -> V {
    let n = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    let (a, w) = ([q[0] / n, q[1] / n, q[2] / n], q[3] / n);
    add(add(scale(p, w * w - dot(a, a)), scale(a, 2.0 * dot(a, p))), scale(cross(a, p), 2.0 * w))
}

/// Where the last of a row of joints lies: its frame's origin, through all the joints above.
pub fn end(chain: &[Local]) -> V {
    // From the tip up: each joint turns what hangs below it and moves it by its offset.
    chain
        .iter()
        .rev()
        .fold([0.0; 3], |below, l| add(turn(l.rotation.map(f64::from), below), l.offset.map(f64::from)))
}

/// Distance of the end from a goal.
pub fn miss(chain: &[Local], goal: [f32; 3]) -> f64 {
    let d = add(end(chain), scale(goal.map(f64::from), -1.0));
    dot(d, d).sqrt()
}

/// The largest change of a bone's length between two states of a chain.
pub fn longer(before: &[Local], after: &[Local]) -> f64 {
    let length = |l: &Local| dot(l.offset.map(f64::from), l.offset.map(f64::from)).sqrt();
    before.iter().zip(after).skip(1).map(|(a, b)| (length(a) - length(b)).abs()).fold(0.0, f64::max)
}
