//! The trace of a solve: its steps, passed to a callback.

use core::ops::ControlFlow;

use glam::{Affine3, Vec3};

use crate::{JointId, Pose, solve::chain_state::ChainState};

/// Callback for the steps of a solve, if there is one.
pub(crate) type Watch<'a> = Option<&'a mut dyn FnMut(TraceStep<'_>) -> ControlFlow<()>>;

/// A step of a solve.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TraceStep<'a> {
    /// Number of the sweep (for least squares: of the step), from 0.
    pub iteration: u32,
    /// The change that the step made.
    pub change: TraceChange,
    links: &'a ChainState,
}

/// The change that a step of a solve made.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum TraceChange {
    /// A joint turned or slid ([`Ccd`](crate::solve::Ccd), [`Fold`](crate::solve::Fold)).
    Joint {
        /// The joint.
        joint: JointId,
    },
    /// A point moved, before joints turn to it ([`Fabrik`](crate::solve::Fabrik), [`FabrikTree`](crate::solve::FabrikTree)).
    Point {
        /// The pass that moved it.
        pass: TracePass,
        /// Index of the point. On a chain, points count from the root: 0 is the root joint. One past the last joint is the
        /// end of the offset at the tip. In a tree of n joints, 0 to n - 1 are its [`joints`](crate::solve::FabrikTree::joints)
        /// and n + e is the point of effector e.
        point: usize,
        /// New position in model space, in metres.
        position: Vec3,
    },
    /// A chain asked for a position of its sub-base in the backward pass ([`FabrikTree`](crate::solve::FabrikTree)). The
    /// [`Point`](TraceChange::Point) of the sub-base follows: the centroid of what its chains ask for.
    SubBase {
        /// Index of the sub-base, as in [`Point`](TraceChange::Point).
        point: usize,
        /// Index of the point next to it on the chain that asks.
        from: usize,
        /// Position that the chain asks for, in model space, in metres.
        position: Vec3,
    },
    /// All joints moved by one step ([`DampedLeastSquares`](crate::solve::DampedLeastSquares)).
    Step {
        /// Damping of the step, as a share of the squared residual.
        damping: f32,
        /// Whether the step reduced the residual. One that did not is taken back, and the next one is damped more.
        taken: bool,
    },
}

/// A pass of [`Fabrik`](crate::solve::Fabrik) or [`FabrikTree`](crate::solve::FabrikTree).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TracePass {
    /// From tips to the root: ends are put on their goals.
    Backward,
    /// From the root to tips: the root is put back.
    Forward,
}

impl TraceStep<'_> {
    /// Writes the solver's joints, as the step left them, to a pose of the same skeleton. Updates the pose.
    pub fn write_to(&self, pose: &mut Pose) {
        self.links.store_all(pose);
    }
}

/// Passes steps to a callback, and remembers whether that asks to stop.
pub(crate) struct Trace<'a> {
    watch: Watch<'a>,
    /// Map from the space of the solve to model space.
    to_model: Affine3,
    iteration: u32,
    stopped: bool,
}

impl<'a> Trace<'a> {
    pub fn new(watch: Watch<'a>, to_model: Affine3) -> Self {
        Self { watch, to_model, iteration: 0, stopped: false }
    }

    /// A trace without a callback.
    pub fn none() -> Self {
        Self::new(None, Affine3::IDENTITY)
    }

    /// Sets the number of the current iteration.
    pub fn begin(&mut self, iteration: u32) {
        self.iteration = iteration;
    }

    /// Whether the callback asked to stop.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// Whether there is a callback.
    #[inline]
    pub fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Reports that a joint turned or slid.
    #[cold]
    pub fn joint(&mut self, links: &ChainState, link: usize) {
        self.tell(links, TraceChange::Joint { joint: links.chain().joints()[link] });
    }

    /// Reports a point that moved to `place`, in the frame of the root's parent turned but not scaled.
    #[inline]
    pub fn point(&mut self, links: &ChainState, pass: TracePass, point: usize, place: Vec3) {
        if self.is_watched() {
            let position = self.to_model.transform_point3(links.back_out(place));
            self.tell(links, TraceChange::Point { pass, point, position });
        }
    }

    /// Reports the place that a chain, with the point `from` on it, asks for its sub-base; see [`Trace::point`].
    #[inline]
    pub fn sub_base(&mut self, links: &ChainState, point: usize, from: usize, place: Vec3) {
        if self.is_watched() {
            let position = self.to_model.transform_point3(links.back_out(place));
            self.tell(links, TraceChange::SubBase { point, from, position });
        }
    }

    /// Reports a step of all joints, and counts it as an iteration.
    #[inline]
    pub fn step(&mut self, links: &ChainState, damping: f32, taken: bool) {
        if self.is_watched() {
            self.tell(links, TraceChange::Step { damping, taken });
        }
        self.iteration += 1;
    }

    #[cold]
    fn tell(&mut self, links: &ChainState, change: TraceChange) {
        let step = TraceStep { iteration: self.iteration, change, links };
        if let (Some(watch), false) = (&mut self.watch, self.stopped) {
            self.stopped = watch(step).is_break();
        }
    }
}
