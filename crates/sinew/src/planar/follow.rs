//! Follow: each bone pulled along by its neighbour.

use glam::Vec2;

use super::{Chain2d, Chain2dError, Lead, angle, chain, displacement, length, turned, unit};

impl Chain2d {
    /// Moves one end to `position` and pulls the rest along, in one pass. Both ends of the chain move, so every position
    /// is in reach.
    ///
    /// Led by the tip, each bone's end moves to its neighbour's start, and its own start follows. The joint at its end
    /// bends, and turns the bone back to within its limits. Led by the root, each bone points to its end's old
    /// position, as far as the limits of the joint at its start allow. A limit of the first bone applies last: it turns
    /// the whole chain about the tip. With either lead, a limit is the same signed angle, from the parent's direction
    /// to the joint's own.
    ///
    /// Returns an error if `position`, the root or the base is not finite.
    ///
    /// ```
    /// use sinew::{glam::Vec2, planar::{Bone2d, Chain2d, Lead}};
    /// let mut snake = Chain2d::new(Vec2::ZERO, &[Bone2d::new(1.0).with_limits(-3.1, 3.1); 3])?;
    /// snake.follow(Vec2::new(0.0, 30.0), Lead::Root)?;
    /// assert_eq!(snake.root, Vec2::new(0.0, 30.0));
    /// assert!(snake.end().y < 28.0);
    /// # Ok::<(), sinew::planar::Chain2dError>(())
    /// ```
    pub fn follow(&mut self, position: Vec2, lead: Lead) -> Result<(), Chain2dError> {
        chain::finite("the position", position)?;
        self.begin()?;
        self.walk();
        let n = self.bones.len();
        let leading = if lead == Lead::Tip { self.work.positions[n] } else { self.root };
        if leading == position {
            return Ok(());
        }
        match lead {
            Lead::Root => {
                self.root = position;
                // A bone whose end is already at its start keeps its angle.
                self.point_bones(|chain, i, at| match chain.bones[i].length > 0.0 {
                    true => displacement(at, chain.work.positions[i + 1]),
                    false => Vec2::ZERO,
                });
            }
            Lead::Tip => {
                let mut far = position;
                for i in (0..n).rev() {
                    let pull = displacement(self.work.positions[i], far);
                    let size = length(pull);
                    if size > 0.0 && self.bones[i].length > 0.0 {
                        self.work.directions[i] = pull / size;
                    }
                    if i + 1 < n {
                        let below = self.work.directions[i + 1];
                        self.put(i + 1, angle(self.work.directions[i], below));
                        self.work.directions[i] = turned(below, unit(-self.bones[i + 1].angle));
                    }
                    far -= self.work.directions[i] * self.bones[i].length;
                }
                self.put(0, angle(unit(self.base), self.work.directions[0]));
                let end = self.end();
                let moved = position - end;
                self.root = if moved.is_finite() { self.root + moved } else { position - (end - self.root) };
            }
        }
        Ok(())
    }
}
