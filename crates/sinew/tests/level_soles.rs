//! Feet that do not turn with the slope: planted soles are level, on the highest ground under them, in whole clips and frame by
//! frame.

use crate::figure;

use sinew::{
    Placement,
    glam::{Affine3, Vec3},
    ground::{
        Plane,
        plant::{ClipOptions, Figure, FootPlanter, PlantOptions, plant_clip},
    },
    motion::Baker,
};

/// A hill that rises ahead and to the left.
fn hill(z: f32) -> Plane {
    Plane { point: Vec3::ZERO, normal: Vec3::new(-0.1, 1.0, -z).normalize() }
}

/// Legs of which the left one's sole stays level, at a height.
fn legs(height: f32) -> Figure {
    let (mut legs, _) = figure::figure();
    legs.legs_mut()[0].follows_slope = false;
    legs.legs_mut()[0].sole_height = height;
    legs
}

/// Heights of heel, ball and tip above the hill, and the difference of the first two.
fn over(frame: [Affine3; 2], leg: &sinew::ground::plant::Leg, slope: f32) -> ([f32; 3], f32) {
    let sole = leg.sole;
    let points = [(0, sole.heel), (0, sole.ball), (1, sole.tip)].map(|(k, p)| frame[k].transform_point3(p));
    (points.map(|p| p.y - 0.1 * p.x - slope * p.z), points[1].y - points[0].y)
}

#[test]
fn a_foot_planter_keeps_soles_level() {
    for (slope, height) in [(0.2, 0.0), (-0.2, 0.0), (0.2, 0.03)] {
        let (figure, (_, rest)) = (legs(height), figure::figure());
        let planter = FootPlanter::new(&figure, PlantOptions::default()).unwrap();
        let (mut feet, mut pose, ground) = (planter.state(), rest.clone(), hill(slope));
        let (mut since, mut checked) = ([0; 2], [0; 2]);
        for i in 0..360 {
            let time = i as f32 / 120.0;
            figure::walk(&figure, &rest, time, &mut pose);
            let world = Affine3::from_translation(Vec3::Z * figure::SPEED * time);
            let place = Placement::new(world).unwrap();
            planter.sense(&mut feet, &ground, &pose, &place).unwrap();
            planter.step(&mut feet, &mut pose, &place, 1.0 / 120.0).unwrap();
            for (i, leg) in figure.legs().iter().enumerate() {
                let on_floor = (time + 0.5 * i as f32).fract() < 0.46;
                since[i] = if feet.stands(i) && on_floor { since[i] + 1 } else { 0 };
                if since[i] <= 30 {
                    continue;
                }
                let frame = [leg.foot, leg.toes.unwrap()].map(|j| world * pose.model(j));
                let (over, rise) = over(frame, leg, slope);
                let lowest = over.into_iter().fold(f32::MAX, f32::min);
                let wanted = leg.sole_height;
                assert!((lowest - wanted).abs() < 3e-3, "{i}, {slope}: {over:?}, not {wanted}");
                let level = rise.abs() < 1e-3;
                assert_eq!(level, i == 0, "{i}, {slope}: {rise}");
                checked[i] += 1;
            }
        }
        assert!(checked.iter().all(|c| *c > 40), "{checked:?}");
    }
}

#[test]
fn a_planted_clip_keeps_soles_level() {
    for (slope, height) in [(0.2, 0.0), (-0.2, 0.0), (0.2, 0.03)] {
        let (figure, (_, rest)) = (legs(height), figure::figure());
        let skeleton = rest.skeleton();
        let (mut baker, mut pose) = (Baker::new(skeleton, skeleton.joints()), rest.clone());
        for key in 0..=30 {
            let time = key as f32 / 30.0;
            figure::walk(&figure, &rest, time, &mut pose);
            baker.push(time, &pose);
        }
        let clip = baker.finish("walk", skeleton).unwrap();
        let mut options = ClipOptions::default();
        options.repeat = Some(3);
        let planting = plant_clip(&figure, &rest, &clip, &hill(slope), &options).unwrap();
        assert_eq!(planting.report.planted_share(), 1.0, "{slope}: {:?}", planting.report.contacts);
        let mut checked = [0; 2];
        for contact in planting.report.contacts.iter().filter(|c| c.point == "ball") {
            let middle = 0.5 * (contact.time.from + contact.time.to);
            planting.planted.clip.sample(middle, &mut pose);
            pose.update();
            let leg = &figure.legs()[contact.leg];
            let frame = [leg.foot, leg.toes.unwrap()].map(|j| pose.model(j));
            let (over, rise) = over(frame, leg, slope);
            let lowest = over.into_iter().fold(f32::MAX, f32::min);
            assert!((lowest - leg.sole_height).abs() < 3e-3, "{}, {slope}: {over:?}", contact.leg);
            assert_eq!(rise.abs() < 1e-3, contact.leg == 0, "{}, {slope}: {rise}", contact.leg);
            checked[contact.leg] += 1;
        }
        assert!(checked.iter().all(|c| *c > 1), "{checked:?}");
    }
}
