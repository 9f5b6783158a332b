//! Solid parts of the tutorial's pictures.

use sinew::{
    draw::{DrawList, Shape, ShapeKind, ShapeRole},
    glam::{Affine3, Vec3},
    math,
};

/// Adds a cylinder along the y axis of a frame, from a height to another one, with a radius at each end, in metres.
pub fn cylinder(list: &mut DrawList, role: ShapeRole, frame: &Affine3, ends: [(f32, f32); 2]) {
    const COLUMNS: usize = 16;
    let rim = |(height, radius): (f32, f32), n: usize| {
        let turn = core::f32::consts::TAU * (n % COLUMNS) as f32 / COLUMNS as f32;
        frame.transform_point3(Vec3::new(radius * math::sin(turn), height, radius * math::cos(turn)))
    };
    let [low, high] = ends;
    let mut points = Vec::new();
    for n in 0..COLUMNS {
        let [a, b, c, d] = [rim(low, n), rim(low, n + 1), rim(high, n + 1), rim(high, n)];
        points.extend([a, b, c, a, c, d]);
        let [under, over] = [low.0, high.0].map(|height| frame.transform_point3(Vec3::Y * height));
        points.extend([over, d, c, under, b, a]);
    }
    list.push(Shape::new(role, ShapeKind::Triangles), points);
}
