//! Chains that follow an end, or lie along a curve.

use std::sync::Arc;

use sinew::{
    Chain, Skeleton,
    glam::Vec3,
    solve::{
        Follow, FollowOptions, Lead, Spline, SplineOptions,
        spline::{Curve, CurveKind, CurveUp, Fit, Roll},
    },
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    exchange::{self, OTHER, read, read_vector, with_workspace, write, write_report},
    failure::{failure, making, solving},
    pose::RawPose,
    skeleton::RawSkeleton,
};

fn chain(skeleton: &RawSkeleton, root: u32, tip: u32) -> Result<(Arc<Skeleton>, Chain), JsValue> {
    let (root, tip) = (skeleton.id(root)?, skeleton.id(tip)?);
    let skeleton = skeleton.skeleton.clone();
    let chain = Chain::new(&skeleton, root, tip)
        .and_then(|chain| chain.with_tip_offset(&skeleton, read_vector(OTHER)))
        .map_err(making)?;
    Ok((skeleton, chain))
}

/// A chain that is pulled by one end.
#[wasm_bindgen]
pub struct RawFollow {
    follow: Follow,
    skeleton: Arc<Skeleton>,
}

#[wasm_bindgen]
impl RawFollow {
    /// The exchange has the tip's offset.
    #[wasm_bindgen(constructor)]
    pub fn new(skeleton: &RawSkeleton, root: u32, tip: u32) -> Result<Self, JsValue> {
        let (skeleton, chain) = chain(skeleton, root, tip)?;
        Ok(Self { follow: Follow::from_chain(&skeleton, chain).map_err(making)?, skeleton })
    }

    /// Moves the tip, or the root, to the position in the exchange, and leaves the report.
    pub fn solve(&self, pose: &mut RawPose, by_root: bool) -> Result<(), JsValue> {
        pose.check(&self.skeleton)?;
        pose.pull();
        let influence = exchange::read_options().0.influence;
        let lead = if by_root { Lead::Root } else { Lead::Tip };
        let options = FollowOptions::new().with_lead(lead).with_influence(influence);
        let to = read_vector(OTHER);
        let report = with_workspace(|workspace| self.follow.solve(workspace, &mut pose.pose, to, &options));
        let report = report.map_err(solving)?;
        self.follow.chain().joints().iter().for_each(|&joint| pose.push(joint));
        write_report(&report);
        Ok(())
    }
}

/// A curve.
#[wasm_bindgen]
pub struct RawCurve {
    pub(crate) curve: Curve,
}

fn points(numbers: &[f32]) -> Vec<Vec3> {
    numbers.chunks_exact(3).map(Vec3::from_slice).collect()
}

#[wasm_bindgen]
impl RawCurve {
    /// The exchange has the direction of the first normal.
    #[wasm_bindgen(constructor)]
    pub fn new(numbers: &[f32], bezier: bool, closed: bool, carried: bool) -> Result<Self, JsValue> {
        let kind = if bezier { CurveKind::Bezier } else { CurveKind::CatmullRom };
        let direction = read_vector(OTHER);
        let up = if carried { CurveUp::Carried(direction) } else { CurveUp::Direction(direction) };
        Ok(Self { curve: Curve::new(kind, &points(numbers), closed, up).map_err(making)? })
    }

    /// Moves the points.
    #[wasm_bindgen(js_name = setPoints)]
    pub fn set_points(&mut self, numbers: &[f32]) -> Result<(), JsValue> {
        self.curve.set_points(&points(numbers)).map_err(|error| failure("input", error))
    }

    /// Length in metres.
    #[wasm_bindgen(getter)]
    pub fn length(&self) -> f32 {
        self.curve.length()
    }

    /// Leaves position, tangent and normal at a distance from the start in the exchange.
    pub fn at(&self, distance: f32) {
        let frame = self.curve.at(distance);
        for (i, vector) in [frame.position, frame.tangent, frame.normal].into_iter().enumerate() {
            write(OTHER + 3 * i, &vector.to_array());
        }
    }
}

/// A chain that lies along a curve.
#[wasm_bindgen]
pub struct RawSpline {
    spline: Spline,
    skeleton: Arc<Skeleton>,
}

#[wasm_bindgen]
impl RawSpline {
    /// The exchange has the tip's offset.
    #[wasm_bindgen(constructor)]
    pub fn new(skeleton: &RawSkeleton, root: u32, tip: u32) -> Result<Self, JsValue> {
        let (skeleton, chain) = chain(skeleton, root, tip)?;
        Ok(Self { spline: Spline::from_chain(&skeleton, chain).map_err(making)?, skeleton })
    }

    /// Lays the chain along a curve. The exchange has the offset, whether it is reversed, whether the bones stretch and by which
    /// factors, whether roll follows the curve's frames, its axis and twists, and whether the root stays. Leaves the report, the
    /// distance beyond the curve, the count of bones without a crossing, and the longest way.
    pub fn solve(&self, pose: &mut RawPose, curve: &RawCurve) -> Result<(), JsValue> {
        pose.check(&self.skeleton)?;
        pose.pull();
        let number = |i| read(OTHER + i) as f32;
        let (_, given) = exchange::read_options();
        let mut options = SplineOptions::new()
            .with_offset(number(0))
            .with_reversed(number(1) != 0.0)
            .with_moves_root(number(11) == 0.0)
            .with_position_tolerance(given.position_tolerance)
            .with_influence(given.influence);
        if number(2) != 0.0 {
            options.fit = Fit::Stretched { shortest: number(3), longest: number(4) };
        }
        if number(5) != 0.0 {
            options.roll = Roll::Frames { axis: read_vector(OTHER + 6), twist: [number(9), number(10)] };
        }
        let solved =
            with_workspace(|workspace| self.spline.solve(workspace, &mut pose.pose, &curve.curve, &options));
        let report = solved.map_err(solving)?;
        self.spline.chain().joints().iter().for_each(|&joint| pose.push(joint));
        write_report(&report.report);
        write(OTHER, &[report.beyond, report.missed as f32, report.longest_way]);
        Ok(())
    }
}
