//! A walk with hostile sizes, keys, grounds and options, planted as a whole clip and frame by frame.

use std::path::Path;

use sinew::{
    Placement, Pose,
    body::{BodyRoles, RoleHints},
    glam::{Affine3, Quat, Vec3},
    ground::{
        Ground, MeshGround, Plane, TriangleMesh,
        plant::{ClipOptions, Figure, FootPlanter, PlantOptions, Stride, plant_clip},
    },
    motion::{Clip, Interpolation, JointTracks, Track},
};
use sinew_files::{ReadOptions, bvh};

use crate::{
    Outcome,
    bytes::Bytes,
    files::{one_line, refused},
};

/// Frames that are planted step by step.
const FRAMES: usize = 12;

pub fn run(data: &[u8]) -> Result<Outcome, String> {
    let mut b = Bytes::new(data);
    let hostile = [0, 1, 4, 32][b.below(4)];
    let scale = [1.0, 1.0, 1.0, 0.01, 100.0, 1e-9, 1e9][b.below(7)];
    let options = ReadOptions { scale, ..ReadOptions::default() };
    let person = include_bytes!("../seeds/bvh/person.bvh");
    let model = match bvh::from_bytes(person, Path::new("person.bvh"), &options) {
        Ok(model) => model,
        Err(error) => return refused(&error),
    };
    let mut rest = Pose::rest(&model.skeleton);
    for joint in model.skeleton.joints() {
        if b.byte() < hostile {
            let mut local = *rest.local(joint);
            (local.translation, local.rotation) = (b.vector(hostile), b.rotation(hostile));
            local.scale = if b.below(2) == 0 { b.vector(hostile) } else { local.scale };
            rest.set_local(joint, local);
        }
    }
    rest.update();
    let body = match BodyRoles::find_with(&rest, &RoleHints::new().with_declared(&model.declared_roles)) {
        Ok(body) => body,
        Err(error) => return refused(&error),
    };
    let mut figure = match Figure::of_body(&rest, &body, &[]) {
        Ok(figure) => figure,
        Err(error) => return refused(&error),
    };
    if b.byte() < hostile {
        let sole = &mut figure.legs_mut()[0].sole;
        (sole.heel, sole.ball) = (b.vector(hostile), b.vector(hostile));
    }
    let clip = match clip(&model.clips[0], &rest, hostile, &mut b) {
        Ok(clip) => clip,
        Err(error) => return refused(&error),
    };
    let plane;
    let mesh;
    let ground: &dyn Ground = if b.below(3) > 0 {
        let normal = Vec3::new(b.share(), 1.0, b.share()).normalize();
        plane = Plane { point: b.vector(hostile), normal };
        &plane
    } else {
        let mut triangles = TriangleMesh::default();
        for _ in 0..1 + b.below(24) {
            let at = b.vector(hostile) * 2.0;
            triangles.push([at, at + b.vector(hostile), at + b.vector(hostile)]);
        }
        mesh = match MeshGround::new(triangles) {
            Ok(mesh) => mesh,
            Err(error) => return refused(&error),
        };
        &mesh
    };
    let mut settings = PlantOptions::default();
    let numbers = [
        &mut settings.contact_height,
        &mut settings.contact_speed,
        &mut settings.cast_above,
        &mut settings.cast_below,
        &mut settings.max_slope,
        &mut settings.max_shift,
        &mut settings.support,
        &mut settings.clearance,
        &mut settings.min_flexion,
        &mut settings.pelvis_rate,
        &mut settings.foot_rate,
        &mut settings.leaving_time,
        &mut settings.landing_time,
    ];
    for number in numbers {
        if b.byte() < hostile {
            *number = b.number(128);
        }
    }
    let mut options = ClipOptions::default();
    options.planting = settings;
    // What takes long here takes long for its length, which a few rounds show as well as many.
    options.repeat = [None, Some(1), Some(2), Some(3)][b.below(4)];
    options.stride = [None, Some(Stride::Keep), Some(Stride::Fit), Some(Stride::Treads(2))][b.below(4)];
    // A second of the walk has a thousand.
    options.max_keys = 20_000;
    let whole = whole(&figure, &rest, &clip, ground, &options)?;
    let steps = steps(&figure, &rest, &clip, ground, settings, hostile, &mut b)?;
    Ok(if whole == Outcome::Done { whole } else { steps })
}

/// The clip with some of its keys put elsewhere.
fn clip(given: &Clip, rest: &Pose, hostile: u8, b: &mut Bytes<'_>) -> Result<Clip, String> {
    let stretch = if b.byte() < hostile { b.number(hostile).abs().clamp(1e-6, 2.0) } else { 1.0 };
    let mut tracks: Vec<JointTracks> = Vec::new();
    for track in given.tracks() {
        let times = |t: &[f32]| t.iter().map(|t| t * stretch).collect::<Vec<_>>();
        let mut new = track.clone();
        if let Some(t) = &track.translation {
            let mut values = t.values().to_vec();
            values.iter_mut().for_each(|v| *v = if b.byte() < hostile { b.vector(hostile) } else { *v });
            let made = Track::new(times(t.times()), values, Interpolation::Linear);
            new.translation = Some(made.map_err(|e| e.to_string())?);
        }
        if let Some(t) = &track.rotation {
            let mut values: Vec<Quat> = t.values().to_vec();
            values.iter_mut().for_each(|v| *v = if b.byte() < hostile { b.rotation(hostile) } else { *v });
            let made = Track::new(times(t.times()), values, Interpolation::Linear);
            new.rotation = Some(made.map_err(|e| e.to_string())?);
        }
        tracks.push(new);
    }
    Clip::new("walk", rest.skeleton(), tracks).map_err(|e| e.to_string())
}

fn whole(
    figure: &Figure,
    rest: &Pose,
    clip: &Clip,
    ground: &dyn Ground,
    options: &ClipOptions,
) -> Result<Outcome, String> {
    let planted = match plant_clip(figure, rest, clip, ground, options) {
        Ok(planting) => planting.planted,
        Err(error) => return refused(&error),
    };
    // A clip is checked when it is made, so that what can be built is finite; the feet are not.
    match planted.feet.iter().flatten().find(|f| !f.ankle.is_finite()) {
        Some(foot) => Err(format!("an ankle is not at a finite place: {foot:?}")),
        None => Ok(Outcome::Done),
    }
}

fn steps(
    figure: &Figure,
    rest: &Pose,
    clip: &Clip,
    ground: &dyn Ground,
    settings: PlantOptions,
    hostile: u8,
    b: &mut Bytes<'_>,
) -> Result<Outcome, String> {
    let mut planter = match FootPlanter::new(figure, settings) {
        Ok(planter) => planter,
        Err(error) => return refused(&error),
    };
    if let Err(error) = planter.learn_floor(clip, rest) {
        return refused(&error);
    }
    let (mut pose, mut time, mut feet) = (rest.clone(), clip.start(), planter.state());
    for _ in 0..FRAMES {
        clip.sample(time, &mut pose);
        pose.update();
        let sound = pose.check_finite().is_ok();
        let dt = if b.byte() < hostile { b.number(128) } else { 1.0 / 30.0 };
        time += if dt.is_finite() { dt } else { 0.0 };
        let at = if b.byte() < hostile { b.vector(128) } else { Vec3::ZERO };
        let world = Affine3::from_rotation_translation(Quat::from_rotation_y(b.share()), at);
        let placement = match Placement::new(world) {
            Ok(placement) => placement,
            Err(error) => {
                one_line(&error)?;
                continue;
            }
        };
        if let Err(error) = planter.sense(&mut feet, ground, &pose, &placement) {
            one_line(&error)?;
            continue;
        }
        match planter.step(&mut feet, &mut pose, &placement, dt) {
            Err(error) => one_line(&error)?,
            Ok(_) if sound && pose.check_finite().is_err() => {
                return Err("a step left a pose that is not finite".into());
            }
            Ok(_) => {}
        }
    }
    Ok(Outcome::Done)
}
