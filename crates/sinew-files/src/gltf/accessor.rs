//! Accessors: typed views of numbers in buffers.

use crate::{FileError, budget::Budget};

use super::{buffer::Buffer, json::Place};

/// Storage type of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn read(place: &Place<'_>) -> Result<Self, FileError> {
        Ok(match place.unsigned()? {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            other => return Err(place.error(format!("{other} is not a component type of glTF"))),
        })
    }

    const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// Maximum value, by which a normalised component is divided.
    const fn unit(self) -> f32 {
        match self {
            Self::I8 => 127.0,
            Self::U8 => 255.0,
            Self::I16 => 32767.0,
            Self::U16 => 65535.0,
            Self::U32 | Self::F32 => 1.0,
        }
    }

    /// The component at the start of `bytes`, as a whole number; `None` for floats and if there are too few bytes.
    fn whole(self, bytes: &[u8]) -> Option<i64> {
        Some(match self {
            Self::I8 => i64::from(i8::from_le_bytes([*bytes.first()?])),
            Self::U8 => i64::from(*bytes.first()?),
            Self::I16 => i64::from(i16::from_le_bytes(*bytes.first_chunk()?)),
            Self::U16 => i64::from(u16::from_le_bytes(*bytes.first_chunk()?)),
            Self::U32 => i64::from(u32::from_le_bytes(*bytes.first_chunk()?)),
            Self::F32 => return None,
        })
    }

    fn float(self, bytes: &[u8], normalized: bool) -> Option<f32> {
        if self == Self::F32 {
            return Some(f32::from_le_bytes(*bytes.first_chunk()?));
        }
        let whole = self.whole(bytes)? as f32;
        // The minimum signed value is below -1; glTF clamps it.
        Some(if normalized { (whole / self.unit()).max(-1.0) } else { whole })
    }
}

/// Elements at equal distances in a buffer, checked to be within it.
#[derive(Clone, Copy, Debug)]
struct Span<'a> {
    bytes: &'a [u8],
    stride: usize,
}

impl<'a> Span<'a> {
    fn element(&self, index: usize) -> &'a [u8] {
        index.checked_mul(self.stride).and_then(|at| self.bytes.get(at..)).unwrap_or_default()
    }
}

/// Values that replace some of an accessor's elements.
#[derive(Clone, Copy, Debug)]
struct Sparse<'a> {
    count: usize,
    index_type: Component,
    indices: Span<'a>,
    values: Span<'a>,
}

/// Accessor whose bounds are checked. Only sparse indices can still be wrong.
#[derive(Clone, Debug)]
pub(super) struct Accessor<'a> {
    place: Place<'a>,
    /// Number of elements.
    pub count: usize,
    component: Component,
    components: usize,
    normalized: bool,
    /// Elements; `None` if all are zero except sparse ones.
    span: Option<Span<'a>>,
    sparse: Option<Sparse<'a>>,
    /// Budget in which the values are counted.
    budget: &'a Budget,
}

impl<'a> Accessor<'a> {
    /// Reads the accessor with the index at `reference`.
    pub fn read(
        root: &Place<'a>,
        buffers: &'a [Buffer],
        reference: &Place<'a>,
        budget: &'a Budget,
    ) -> Result<Self, FileError> {
        let place = reference.follow(root, "accessors")?;
        let kind = place.need("type")?;
        let components = match kind.text()? {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" | "MAT2" => 4,
            "MAT3" => 9,
            "MAT4" => 16,
            other => return Err(kind.error(format!("`{other}` is not an accessor type of glTF"))),
        };
        let component = Component::read(&place.need("componentType")?)?;
        let count_place = place.need("count")?;
        let count = count_place.unsigned()?;
        let normalized = place.value().get("normalized").and_then(|v| v.as_bool()).unwrap_or(false);
        let size = component.size() * components;
        let offset = place.unsigned_or("byteOffset", 0)?;
        let span = match place.get("bufferView") {
            Some(view) => Some(span(root, buffers, &view, offset, count, size, &count_place)?),
            None => None,
        };
        // The count of elements without bytes is compared with the size of all buffers: elements that belong to them
        // (positions of morph targets, times of keys) have bytes.
        if span.is_none() && count > 1 << 16 {
            let held: usize = buffers.iter().filter_map(|b| b.bytes.as_ref()).map(|b| b.len()).sum();
            if count > held as u64 {
                return Err(count_place.error(format!("{count} elements of zeros in a file of {held} bytes")));
            }
        }
        let sparse = match place.get("sparse") {
            Some(sparse) => Some(read_sparse(root, buffers, &sparse, count, size)?),
            None => None,
        };
        Ok(Self { place, count: count as usize, component, components, normalized, span, sparse, budget })
    }

    /// An error at this accessor.
    pub fn error(&self, what: impl Into<String>) -> FileError {
        self.place.error(what)
    }

    fn expect<const N: usize>(&self) -> Result<(), FileError> {
        if self.components == N {
            return Ok(());
        }
        Err(self.error(format!("elements must have {N} components here, not {}", self.components)))
    }

    /// Reads elements of `N` components. Normalised integers are divided by their maximum, others converted.
    pub fn floats<const N: usize>(&self) -> Result<Vec<[f32; N]>, FileError> {
        self.expect::<N>()?;
        let (component, size, normalized) = (self.component, self.component.size(), self.normalized);
        self.decode(
            |bytes| {
                std::array::from_fn(|i| {
                    bytes.get(i * size..).and_then(|b| component.float(b, normalized)).unwrap_or_default()
                })
            },
            [0.0; N],
        )
    }

    /// Reads elements as [`Accessor::floats`]. An element that is not finite is an error.
    pub fn finite<const N: usize>(&self) -> Result<Vec<[f32; N]>, FileError> {
        let values = self.floats::<N>()?;
        match values.iter().position(|v| v.iter().any(|x| !x.is_finite())) {
            Some(i) => Err(self.error(format!("element {i} is not finite: {:?}", values[i]))),
            None => Ok(values),
        }
    }

    /// Reads elements of `N` unsigned integers, such as indices of vertices and joints.
    pub fn wholes<const N: usize>(&self) -> Result<Vec<[u32; N]>, FileError> {
        self.expect::<N>()?;
        let (component, size) = (self.component, self.component.size());
        if !matches!(component, Component::U8 | Component::U16 | Component::U32) {
            return Err(self.error("components must be unsigned integers here"));
        }
        self.decode(
            |bytes| {
                std::array::from_fn(|i| {
                    bytes.get(i * size..).and_then(|b| component.whole(b)).unwrap_or_default() as u32
                })
            },
            [0; N],
        )
    }

    fn decode<T: Copy>(&self, one: impl Fn(&[u8]) -> T, zero: T) -> Result<Vec<T>, FileError> {
        self.place.take(self.budget, self.count, size_of::<T>())?;
        let mut values: Vec<T> = match &self.span {
            Some(span) => (0..self.count).map(|i| one(span.element(i))).collect(),
            None => vec![zero; self.count],
        };
        let Some(sparse) = &self.sparse else { return Ok(values) };
        for i in 0..sparse.count {
            let index = sparse.index_type.whole(sparse.indices.element(i)).unwrap_or(-1);
            let Some(value) = usize::try_from(index).ok().and_then(|index| values.get_mut(index)) else {
                let count = self.count;
                return Err(
                    self.error(format!("sparse index {i} is {index}, but there are {count} elements"))
                );
            };
            *value = one(sparse.values.element(i));
        }
        Ok(values)
    }
}

/// The bytes of `count` elements of `size` bytes, from `offset` on in the buffer view with the index at `reference`.
fn span<'a>(
    root: &Place<'a>,
    buffers: &'a [Buffer],
    reference: &Place<'a>,
    offset: u64,
    count: u64,
    size: usize,
    count_place: &Place<'a>,
) -> Result<Span<'a>, FileError> {
    let view = reference.follow(root, "bufferViews")?;
    let buffer_place = view.need("buffer")?;
    let index = buffer_place.index()?;
    let Some(buffer) = buffers.get(index) else {
        let count = buffers.len();
        return Err(buffer_place.error(format!("there is no buffers[{index}]: there are {count}, from 0")));
    };
    let Some(bytes) = &buffer.bytes else {
        return Err(buffer_place.error("the buffer has no bytes (is the file compressed by an extension?)"));
    };
    let start = view.unsigned_or("byteOffset", 0)?;
    let length = view.need("byteLength")?.unsigned()?;
    let inside = start.checked_add(length).filter(|&end| end <= bytes.len() as u64);
    let Some(end) = inside else {
        let held = bytes.len();
        return Err(view.error(format!("bytes {start} + {length} are not in the buffer of {held} bytes")));
    };
    // Some exporters write a stride of 0 for elements without gaps.
    let stride = match view.unsigned_or("byteStride", 0)? {
        0 => size as u64,
        stride if stride < size as u64 => {
            return Err(view.error(format!("a stride of {stride} bytes is less than an element's {size}")));
        }
        stride => stride,
    };
    let needed = match count.checked_sub(1) {
        None => Some(0),
        Some(steps) => stride
            .checked_mul(steps)
            .and_then(|n| n.checked_add(size as u64))
            .and_then(|n| n.checked_add(offset)),
    };
    if needed.is_none_or(|needed| needed > length) {
        return Err(count_place.error(format!(
            "{count} elements of {size} bytes from byte {offset} on do not fit the buffer view's {length} bytes"
        )));
    }
    // Both ends are within a slice, and so fit a usize.
    let bytes = bytes.get((start + offset.min(length)) as usize..end as usize).unwrap_or_default();
    Ok(Span { bytes, stride: stride as usize })
}

fn read_sparse<'a>(
    root: &Place<'a>,
    buffers: &'a [Buffer],
    sparse: &Place<'a>,
    elements: u64,
    size: usize,
) -> Result<Sparse<'a>, FileError> {
    let count_place = sparse.need("count")?;
    let count = count_place.unsigned()?;
    if count > elements {
        return Err(count_place.error(format!("{count} values replace those of {elements} elements")));
    }
    let part = |name: &str, size: Option<usize>| {
        let part = sparse.need(name)?;
        let component = match size {
            None => Component::read(&part.need("componentType")?)?,
            Some(_) => Component::U8,
        };
        let size = size.unwrap_or(component.size());
        let offset = part.unsigned_or("byteOffset", 0)?;
        let view = part.need("bufferView")?;
        Ok::<_, FileError>((component, span(root, buffers, &view, offset, count, size, &count_place)?))
    };
    let (index_type, indices) = part("indices", None)?;
    let (_, values) = part("values", Some(size))?;
    Ok(Sparse { count: count as usize, index_type, indices, values })
}
