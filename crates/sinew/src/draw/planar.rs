//! Shapes of chains in the plane, at z = 0.

use glam::Vec3;

use super::{DrawList, ShapeState, limits};
use crate::{
    body::Side,
    joint::Dof,
    math,
    planar::{AngleConvention2d, Chain2d},
};

impl DrawList {
    /// Adds the bones of a chain in the plane, at z = 0, as [`DrawList::bone`] does.
    ///
    /// ```
    /// use sinew::{draw::DrawList, glam::Vec2, planar::{Bone2d, Chain2d}};
    /// let chain = Chain2d::new(Vec2::ZERO, &[Bone2d::new(1.0), Bone2d::new(0.5).with_limits(-1.0, 2.0)])?;
    /// let mut list = DrawList::new();
    /// list.planar_limits(&chain, 0.2, None);
    /// list.planar_bones(&chain, 0.1, None);
    /// assert_eq!(list.points(list.shapes().last().unwrap())[0].x, 1.0);
    /// # Ok::<(), sinew::planar::Chain2dError>(())
    /// ```
    pub fn planar_bones(&mut self, chain: &Chain2d, thickness: f32, side: Option<Side>) {
        let starts = chain.positions();
        for (from, to) in starts.zip(chain.positions().skip(1)) {
            self.bone(from.extend(0.0), to.extend(0.0), thickness, side, None);
        }
    }

    /// Adds the limits of a chain in the plane, at z = 0: for each limited joint a wedge of this radius about the parent bone's
    /// direction, with the joint's own as its needle; see [`DrawList::limits`].
    pub fn planar_limits(&mut self, chain: &Chain2d, radius: f32, side: Option<Side>) {
        let mut zero = chain.base;
        for (at, bone) in chain.positions().zip(chain.bones()) {
            if let Some((min, max)) = bone.limits {
                let range = Dof::range(min.into(), max.into());
                let dof = Dof { preferred: bone.preferred.map(f64::from), ..range };
                let now = AngleConvention2d::Straight.write(bone.angle);
                let state = ShapeState::of_value(now.into(), dof.range, limits::NEAR);
                let at = at.extend(0.0);
                let on = |angle: f32| {
                    let angle = zero + angle;
                    at + Vec3::new(math::cos(angle), math::sin(angle), 0.0) * radius
                };
                self.wedge(limits::Pen { side, joint: None, state, radius }, at, on, &dof, now);
            }
            zero += bone.angle;
        }
    }
}
