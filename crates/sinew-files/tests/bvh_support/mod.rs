//! A second reader of BVH, for tests: forward kinematics by Euler matrices in f64, sharing nothing with the first.
#![allow(dead_code)] // Each test file uses its own part.

use std::path::PathBuf;

pub const FILES: [&str; 8] = [
    "amc_02_03_run",
    "amc_03_01_uneven",
    "cmu_12_01_walk",
    "pybvh_full_precision_frame_time",
    "pybvh_rotation_first_root",
    "pybvh_standard_skeleton",
    "pymo_AV_8Walk_Meredith",
    "test_mocapbank",
];

/// A folder for one test's files, emptied.
pub fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sinew-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

type Matrix = [[f64; 3]; 3];

fn turn(channel: char, degrees: f64) -> Matrix {
    let (s, c) = degrees.to_radians().sin_cos();
    match channel {
        'X' => [[1., 0., 0.], [0., c, -s], [0., s, c]],
        'Y' => [[c, 0., s], [0., 1., 0.], [-s, 0., c]],
        _ => [[c, -s, 0.], [s, c, 0.], [0., 0., 1.]],
    }
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let mut m = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            m[i][j] = (0..3).map(|k| a[i][k] * b[k][j]).sum();
        }
    }
    m
}

/// Places of every joint in every frame, in the file's units and axes.
pub fn places(text: &str) -> Vec<Vec<[f64; 3]>> {
    struct Joint {
        parent: Option<usize>,
        offset: [f64; 3],
        channels: Vec<String>,
    }
    let mut words = text.split_whitespace();
    let mut joints: Vec<Joint> = Vec::new();
    let mut stack: Vec<usize> = Vec::new();
    let mut take = |n: usize| -> Vec<String> { (0..n).map(|_| words.next().unwrap().to_owned()).collect() };
    loop {
        match take(1)[0].as_str() {
            "ROOT" | "JOINT" | "End" => {
                take(2);
                joints.push(Joint { parent: stack.last().copied(), offset: [0.0; 3], channels: vec![] });
                stack.push(joints.len() - 1);
            }
            "OFFSET" => {
                let o = take(3);
                joints.last_mut().unwrap().offset = [0, 1, 2].map(|i| o[i].parse().unwrap());
            }
            "CHANNELS" => {
                let n = take(1)[0].parse().unwrap();
                joints.last_mut().unwrap().channels = take(n);
            }
            "}" => {
                stack.pop();
            }
            "MOTION" => break,
            _ => {}
        }
    }
    let frames: usize = take(2)[1].parse().unwrap();
    take(3);
    let mut result = Vec::new();
    for _ in 0..frames {
        let mut placed: Vec<(Matrix, [f64; 3])> = Vec::new();
        for joint in &joints {
            let mut place = joint.offset;
            let mut rotation = [[1., 0., 0.], [0., 1., 0.], [0., 0., 1.]];
            for (channel, value) in joint.channels.iter().zip(take(joint.channels.len())) {
                let (axis, value) = (channel.chars().next().unwrap(), value.parse().unwrap());
                if channel.ends_with("rotation") {
                    rotation = product(&rotation, &turn(axis, value));
                } else {
                    place["XYZ".find(axis).unwrap()] = value;
                }
            }
            placed.push(match joint.parent {
                None => (rotation, place),
                Some(p) => {
                    let (m, t) = &placed[p];
                    let at = [0, 1, 2].map(|i| t[i] + (0..3).map(|k| m[i][k] * place[k]).sum::<f64>());
                    (product(m, &rotation), at)
                }
            });
        }
        result.push(placed.into_iter().map(|(_, t)| t).collect());
    }
    result
}
