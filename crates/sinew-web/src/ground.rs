//! Grounds to stand on.

use core::cell::RefCell;

use sinew::{
    glam::Vec3,
    ground::{
        Filter, Ground, Hit, MeshGround, Plane, TriangleMesh,
        terrain::{Flight, Rough, Slope, Stairs, TerrainError},
    },
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    exchange::{OTHER, read, read_vector, write},
    failure::making,
};

enum Shape {
    Plane(Plane),
    Mesh(MeshGround),
}

/// A ground, and the rays that have been cast onto it, if they are kept.
#[wasm_bindgen]
pub struct RawGround {
    shape: Shape,
    /// Origin and end of each ray; the end is the hit, or as far as the ray goes. The last number is 1 for a hit.
    rays: RefCell<Option<Vec<[f32; 7]>>>,
}

impl RawGround {
    fn of(shape: Shape) -> Self {
        Self { shape, rays: RefCell::new(None) }
    }

    pub(crate) fn of_mesh(mesh: TriangleMesh) -> Result<Self, JsValue> {
        Ok(Self::of(Shape::Mesh(MeshGround::new(mesh).map_err(making)?)))
    }

    pub(crate) fn triangles(&self) -> Option<&TriangleMesh> {
        match &self.shape {
            Shape::Plane(_) => None,
            Shape::Mesh(mesh) => Some(mesh.mesh()),
        }
    }
}

impl Ground for RawGround {
    fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        let hit = match &self.shape {
            Shape::Plane(plane) => plane.cast_ray(origin, direction, reach, filter),
            Shape::Mesh(mesh) => mesh.cast_ray(origin, direction, reach, filter),
        };
        if let Some(rays) = self.rays.borrow_mut().as_mut() {
            let end = hit.map_or(origin + direction * reach, |hit| hit.point);
            let ([a, b, c], [d, e, f]) = (origin.to_array(), end.to_array());
            rays.push([a, b, c, d, e, f, f32::from(u8::from(hit.is_some()))]);
        }
        hit
    }
}

/// The number at a place of the exchange, unless it is not given (NaN).
fn given(n: usize, own: f32) -> f32 {
    let number = read(OTHER + n) as f32;
    if number.is_nan() { own } else { number }
}

fn terrain(mesh: Result<TriangleMesh, TerrainError>) -> Result<RawGround, JsValue> {
    RawGround::of_mesh(mesh.map_err(making)?)
}

#[wasm_bindgen]
impl RawGround {
    /// The level plane at a height.
    pub fn level(height: f32) -> Self {
        Self::of(Shape::Plane(Plane::level(height)))
    }

    /// Triangles, as indices of vertices.
    pub fn mesh(positions: &[f32], indices: &[u32]) -> Result<RawGround, JsValue> {
        Self::of_mesh(TriangleMesh {
            positions: positions.chunks_exact(3).map(Vec3::from_slice).collect(),
            triangles: indices.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect(),
            groups: Vec::new(),
        })
    }

    /// Stairs. The exchange has the start, the heading, rise, going, count of steps, width, lead, before, landing and the flight; NaN for
    /// the default.
    pub fn stairs() -> Result<RawGround, JsValue> {
        let own = Stairs::new();
        let flights = [Flight::Up, Flight::Down, Flight::UpAndDown];
        let stairs = own
            .with_origin(Vec3::new(given(0, 0.0), given(1, 0.0), given(2, 0.0)))
            .with_heading(given(3, own.heading))
            .with_rise(given(4, own.rise))
            .with_going(given(5, own.going))
            .with_steps(given(6, own.steps as f32) as u32)
            .with_width(given(7, own.width))
            .with_lead(given(8, own.lead))
            .with_before(given(9, own.before))
            .with_landing(given(10, own.landing))
            .with_flight(flights[given(11, 0.0) as usize % 3]);
        terrain(stairs.mesh())
    }

    /// A ramp. The exchange has the start, the heading, angle, length, width, lead, before and landing; NaN for the default.
    pub fn slope() -> Result<RawGround, JsValue> {
        let own = Slope::new();
        let slope = own
            .with_origin(Vec3::new(given(0, 0.0), given(1, 0.0), given(2, 0.0)))
            .with_heading(given(3, own.heading))
            .with_angle(given(4, own.angle))
            .with_length(given(5, own.length))
            .with_width(given(6, own.width))
            .with_lead(given(7, own.lead))
            .with_before(given(8, own.before))
            .with_landing(given(9, own.landing));
        terrain(slope.mesh())
    }

    /// Rough ground. The exchange has the middle, the extents along x and z, seed, amplitude, wavelength, cell, and the radius of the
    /// level spot; NaN for the default.
    pub fn rough() -> Result<RawGround, JsValue> {
        let own = Rough::new();
        let rough = own
            .with_origin(Vec3::new(given(0, 0.0), given(1, 0.0), given(2, 0.0)))
            .with_size(sinew::glam::Vec2::new(given(3, own.size.x), given(4, own.size.y)))
            .with_seed(given(5, own.seed as f32) as u32)
            .with_amplitude(given(6, own.amplitude))
            .with_wavelength(given(7, own.wavelength))
            .with_cell(given(8, own.cell))
            .with_level(given(9, own.level));
        terrain(rough.mesh())
    }

    /// Positions of the triangles' vertices; empty for a plane.
    pub fn positions(&self) -> Vec<f32> {
        self.triangles().map_or(Vec::new(), |mesh| mesh.positions.iter().flat_map(|p| p.to_array()).collect())
    }

    /// Indices of the triangles' vertices; empty for a plane.
    pub fn indices(&self) -> Vec<u32> {
        self.triangles().map_or(Vec::new(), |mesh| mesh.triangles.as_flattened().to_vec())
    }

    /// Casts a ray. The exchange has origin, unit direction and length; it receives distance, point and normal of a hit.
    pub fn cast(&self) -> bool {
        let hit =
            self.cast_ray(read_vector(OTHER), read_vector(OTHER + 3), read(OTHER + 6) as f32, &Filter::ALL);
        if let Some(hit) = hit {
            write(OTHER, &[hit.distance]);
            write(OTHER + 1, &hit.point.to_array());
            write(OTHER + 4, &hit.normal.to_array());
        }
        hit.is_some()
    }

    /// Keeps the rays that are cast from now on, or keeps none.
    #[wasm_bindgen(js_name = keepRays)]
    pub fn keep_rays(&self, keep: bool) {
        *self.rays.borrow_mut() = keep.then(Vec::new);
    }

    /// The rays that have been kept.
    pub fn rays(&self) -> Vec<f32> {
        self.rays.borrow().as_ref().map_or(Vec::new(), |rays| rays.as_flattened().to_vec())
    }
}
