//! Comparison of the states of a foot planter, and copies that reuse memory.

use super::{FootPlanterState, LegState, clock::Known};

impl PartialEq for FootPlanterState {
    /// Compares what counts as input, not scratch.
    fn eq(&self, other: &Self) -> bool {
        let parts = |s: &Self| {
            (
                (s.ahead, s.level, s.level_goal, s.base, s.body_below, s.rise),
                (s.pending, s.since, s.phase, s.last, s.started, s.presence),
                (s.frame, s.position),
            )
        };
        parts(self) == parts(other)
            && self.legs == other.legs
            && self.known == other.known
            && self.body == other.body
    }
}

impl FootPlanterState {
    /// Whether there is no past motion.
    pub(crate) fn is_fresh(&self) -> bool {
        !self.started && self.base.is_none() && self.known.count == 0
    }

    /// Copies what counts as input from another state, without allocating where that has as many legs.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        let Self {
            legs,
            ahead,
            frames: _,
            backup: _,
            level,
            level_goal,
            base,
            body_below,
            rise,
            body,
            pending,
            since,
            phase,
            last,
            known,
            started,
            presence,
            frame,
            position,
        } = other;
        // States of one planter have as many legs.
        if self.legs.len() != legs.len() {
            self.legs.clone_from(legs);
        }
        for (own, LegState { joint, foot, given, hinge, room, near }) in self.legs.iter_mut().zip(legs) {
            own.foot.copy_from(foot);
            (own.joint, own.given, own.hinge, own.room, own.near) = (*joint, *given, *hinge, *room, *near);
        }
        self.known.copy_from(known);
        (self.ahead, self.level, self.level_goal) = (*ahead, *level, *level_goal);
        (self.base, self.body_below, self.rise, self.body) = (*base, *body_below, *rise, *body);
        (self.pending, self.since, self.phase, self.last) = (*pending, *since, *phase, *last);
        (self.started, self.presence) = (*started, *presence);
        (self.frame, self.position) = (*frame, *position);
    }
}

impl PartialEq for Known {
    /// Compares the ticks that are given.
    fn eq(&self, other: &Self) -> bool {
        let count = self.count;
        count == other.count
            && self.bodies[..count] == other.bodies[..count]
            && self.legs.len() == other.legs.len()
            && self.legs.iter().zip(&other.legs).all(|(own, other)| own[..count] == other[..count])
    }
}

impl Known {
    fn copy_from(&mut self, other: &Self) {
        let Self { legs, bodies, count } = other;
        self.count = *count;
        self.bodies[..*count].copy_from_slice(&bodies[..*count]);
        if self.legs.len() != legs.len() {
            self.legs.clone_from(legs);
        }
        for (own, other) in self.legs.iter_mut().zip(legs) {
            own[..*count].copy_from_slice(&other[..*count]);
        }
    }
}
