//! Ground to stand on: meshes in the world.

use std::{collections::HashMap, sync::Arc};

use bevy_asset::{AssetEvent, AssetId, Assets};
use bevy_ecs::{
    component::Component,
    entity::{Entity, EntityHashMap},
    hierarchy::ChildOf,
    message::MessageReader,
    query::With,
    reflect::ReflectComponent,
    resource::Resource,
    system::{Query, Res, ResMut},
};
use bevy_mesh::{Indices, Mesh, Mesh3d, PrimitiveTopology, VertexAttributeValues};
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use sinew::{
    JointTransform, Placement,
    glam::{Affine3, Mat3, Vec3},
    ground::{Filter, Ground, Hit, MeshGround, TriangleMesh},
    math,
};
use tracing::warn;

use crate::{IkSkeleton, gather::Places};

/// Makes an entity's [`Mesh3d`] ground that feet stand on ([`FootPlanting`](crate::FootPlanting)). It may move, turn and be
/// scaled in any way. Its mesh must be kept in main memory (`RenderAssetUsages::MAIN_WORLD`), as it is by default.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Default, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
pub struct IkGround;

/// A mesh that is ground, as it stands in this frame.
#[derive(Debug)]
struct Body {
    mesh: AssetId<Mesh>,
    /// The mesh with the scale and the shear of its entity, which a placement cannot have.
    ground: Arc<MeshGround>,
    baked: Mat3,
    placement: Placement,
    /// The character to which it belongs, and for which it is no ground.
    owner: Option<Entity>,
    /// A box about it in its own space, and one along the world's axes.
    own: (Vec3, Vec3),
    low: Vec3,
    high: Vec3,
    /// The frame in which it was last there.
    frame: u64,
}

/// Side of a cell of [`Grounds::cells`], in metres.
const CELL: f32 = 4.0;

/// Cells that a body may be in; a larger one is looked at by all rays.
const CELLS: i64 = 256;

/// All ground of a world.
#[derive(Resource, Debug, Default)]
pub(crate) struct Grounds {
    bodies: EntityHashMap<Body>,
    /// Bodies by the cells of the horizontal plane above or below which they lie: planting casts straight down.
    cells: HashMap<(i64, i64), Vec<Entity>>,
    /// Bodies that are in too many cells.
    large: Vec<Entity>,
    /// Whether the cells are out of date.
    moved: bool,
    /// Meshes that cannot be ground, of which a warning has been logged.
    unfit: EntityHashMap<AssetId<Mesh>>,
    frame: u64,
}

pub(crate) fn gather(
    entities: Query<(Entity, &Mesh3d), With<IkGround>>,
    meshes: Option<Res<Assets<Mesh>>>,
    mut events: MessageReader<AssetEvent<Mesh>>,
    places: Places,
    parents: Query<&ChildOf>,
    characters: Query<(), With<IkSkeleton>>,
    mut grounds: ResMut<Grounds>,
) {
    let Some(meshes) = meshes else { return };
    let grounds = &mut *grounds;
    for event in events.read() {
        if let AssetEvent::Added { id } | AssetEvent::Modified { id } | AssetEvent::Removed { id } = event {
            let before = grounds.bodies.len();
            grounds.bodies.retain(|_, body| body.mesh != *id);
            grounds.moved |= grounds.bodies.len() != before;
            grounds.unfit.retain(|_, mesh| mesh != id);
        }
    }
    grounds.frame += 1;
    for (entity, mesh) in &entities {
        let Ok(world) = places.world(entity) else { continue };
        grounds.place(entity, mesh.id(), &meshes, &world);
        if let Some(body) = grounds.bodies.get_mut(&entity) {
            let above = std::iter::once(entity).chain(parents.iter_ancestors(entity));
            body.owner = above.into_iter().find(|&above| characters.contains(above));
        }
    }
    let (now, before) = (grounds.frame, grounds.bodies.len());
    grounds.bodies.retain(|_, body| body.frame == now);
    grounds.unfit.retain(|entity, _| entities.contains(*entity));
    grounds.moved |= grounds.bodies.len() != before;
    if std::mem::take(&mut grounds.moved) {
        grounds.sort();
    }
}

impl Grounds {
    fn place(&mut self, entity: Entity, id: AssetId<Mesh>, meshes: &Assets<Mesh>, world: &Affine3) {
        let (rigid, baked) = split(world);
        let placement = match Placement::new(rigid) {
            Ok(placement) if baked.is_finite() => placement,
            _ => return self.warn(entity, id, "its place is not finite"),
        };
        let frame = self.frame;
        // Rounding of a turn changes the scale by less than this.
        let same = |body: &&mut Body| body.mesh == id && alike(&body.baked, &baked);
        if let Some(body) = self.bodies.get_mut(&entity).filter(same) {
            if body.placement != placement {
                (body.low, body.high) = around(body.own, &placement);
                self.moved = true;
            }
            (body.placement, body.frame) = (placement, frame);
            return;
        }
        let Some(mesh) = meshes.get(id) else { return };
        let triangles = match triangles(mesh) {
            Ok(triangles) => triangles.transformed(&Affine3::from_mat3(baked)),
            Err(why) => return self.warn(entity, id, why),
        };
        let Some(own) = triangles.bounds() else { return self.warn(entity, id, "its mesh is empty") };
        let ground = match MeshGround::new(triangles) {
            Ok(ground) => Arc::new(ground),
            Err(error) => return self.warn(entity, id, &error.to_string()),
        };
        let (low, high) = around(own, &placement);
        self.moved = true;
        let body = Body { mesh: id, ground, baked, placement, owner: None, own, low, high, frame };
        self.bodies.insert(entity, body);
    }

    /// Sorts the bodies into cells.
    fn sort(&mut self) {
        // Those that were used keep their room, for bodies that move to and fro.
        self.cells.values_mut().for_each(Vec::clear);
        self.large.clear();
        for (&entity, body) in &self.bodies {
            let (low, high) = (cell(body.low), cell(body.high));
            let wide = (high.0 - low.0 + 1).saturating_mul(high.1 - low.1 + 1);
            if wide > CELLS {
                self.large.push(entity);
                continue;
            }
            for x in low.0..=high.0 {
                for z in low.1..=high.1 {
                    self.cells.entry((x, z)).or_default().push(entity);
                }
            }
        }
        // A body that travels leaves empty cells behind.
        let used = self.cells.values().filter(|bodies| !bodies.is_empty()).count();
        if self.cells.len() > 2 * used + 64 {
            self.cells.retain(|_, bodies| !bodies.is_empty());
        }
    }

    /// Each mesh once.
    fn warn(&mut self, entity: Entity, mesh: AssetId<Mesh>, why: &str) {
        if self.unfit.insert(entity, mesh) != Some(mesh) {
            warn!("the ground {entity} does not count: {why}");
        }
    }
}

/// A rigid place, and what a rigid place cannot have: scale and shear.
pub(crate) fn split(world: &Affine3) -> (Affine3, Mat3) {
    let wide = sinew::glam::DAffine3 {
        matrix3: world.matrix3.as_dmat3(),
        translation: world.translation.as_dvec3(),
    };
    let turn = math::to_matrix(JointTransform::nearest(&wide).rotation);
    (Affine3 { matrix3: turn, translation: world.translation }, turn.transpose() * world.matrix3)
}

/// The box along the world's axes about one in a body's space, larger by what rounding may add.
fn around((low, high): (Vec3, Vec3), placement: &Placement) -> (Vec3, Vec3) {
    let (middle, half) = (placement.to_world((low + high) * 0.5), (high - low) * 0.5);
    let turn = placement.world_from_model().matrix3;
    let half = turn.x_axis.abs() * half.x + turn.y_axis.abs() * half.y + turn.z_axis.abs() * half.z;
    let margin = Vec3::splat(1e-5 * (1.0 + half.max_element() + middle.abs().max_element()));
    (middle - half - margin, middle + half + margin)
}

fn alike(a: &Mat3, b: &Mat3) -> bool {
    let columns = |m: &Mat3| [m.x_axis, m.y_axis, m.z_axis];
    let size = columns(a).iter().fold(0.0, |most: f32, column| most.max(column.length()));
    columns(&(*a - *b)).iter().all(|column| column.length() <= 1e-5 * size)
}

/// The triangles of a mesh, in its own space.
fn triangles(mesh: &Mesh) -> Result<TriangleMesh, &'static str> {
    let gone = "its mesh is not kept in main memory";
    let positions = match mesh.try_attribute_option(Mesh::ATTRIBUTE_POSITION).map_err(|_| gone)? {
        Some(VertexAttributeValues::Float32x3(positions)) => positions,
        _ => return Err("its mesh has no positions of three f32"),
    };
    let corners: Vec<u32> = match mesh.try_indices_option().map_err(|_| gone)? {
        Some(Indices::U16(indices)) => indices.iter().map(|&index| index.into()).collect(),
        Some(Indices::U32(indices)) => indices.clone(),
        None => (0..positions.len() as u32).collect(),
    };
    let triangles = match mesh.primitive_topology() {
        PrimitiveTopology::TriangleList => corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect(),
        PrimitiveTopology::TriangleStrip => (corners.windows(3).enumerate())
            .map(|(n, c)| if n % 2 == 0 { [c[0], c[1], c[2]] } else { [c[1], c[0], c[2]] })
            .collect(),
        _ => return Err("its mesh has no triangles"),
    };
    let positions = positions.iter().copied().map(Vec3::from_array).collect();
    Ok(TriangleMesh { positions, triangles, groups: Vec::new() })
}

impl Body {
    /// The first hit in the world whose slope, in the world, counts.
    fn cast(&self, origin: Vec3, direction: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        let (from, along) = (self.placement.to_model(origin), self.placement.direction_to_model(direction));
        let all = filter.with_max_slope(core::f32::consts::PI);
        let mut passed = 0.0;
        while passed <= reach {
            let hit = self.ground.cast_ray(from + along * passed, along, reach - passed, &all)?;
            let normal = self.placement.direction_to_world(hit.normal);
            let distance = passed + hit.distance;
            if math::acos(normal.y) <= filter.max_slope {
                return Some(
                    Hit::new(distance, self.placement.to_world(hit.point), normal).with_groups(hit.groups),
                );
            }
            // Past it, by more than rounding.
            passed = distance + 1e-4 * (1.0 + reach);
        }
        None
    }
}

/// The cell of a point; saturates far away.
fn cell(point: Vec3) -> (i64, i64) {
    // Differences of two stay within range.
    let index = |x: f32| ((x / CELL).floor() as i64).clamp(-(1 << 40), 1 << 40);
    (index(point.x), index(point.z))
}

impl Grounds {
    /// Casts a ray for a character: all ground counts but its own.
    pub fn cast_ray(
        &self,
        character: Entity,
        origin: Vec3,
        direction: Vec3,
        reach: f32,
        filter: &Filter,
    ) -> Option<Hit> {
        let mut nearest: Option<Hit> = None;
        let Grounds { bodies, cells, large, .. } = self;
        let end = origin + direction * reach;
        let mut look = |entity: &Entity| {
            let Some(body) = bodies.get(entity).filter(|body| body.owner != Some(character)) else {
                return;
            };
            // The box about the ray.
            let beside = origin.min(end).cmpgt(body.high) | origin.max(end).cmplt(body.low);
            if beside.any() {
                return;
            }
            let Some(hit) = body.cast(origin, direction, reach, filter) else { return };
            // Equal distances go to the lower entity, whatever the order of the bodies.
            let known = nearest.map(|known| (known.distance, known.body));
            if known.is_none_or(|known| (hit.distance, Some(entity.to_bits())) < known) {
                nearest = Some(hit.with_body(entity.to_bits()));
            }
        };
        let (from, to) = (cell(origin), cell(end));
        if from == to {
            cells.get(&from).into_iter().flatten().chain(large).for_each(&mut look);
        } else {
            bodies.keys().for_each(&mut look);
        }
        nearest
    }
}
