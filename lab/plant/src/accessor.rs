//! Numbers of an accessor, with strides, sparse values and normalised integers decoded.

use gltf::{
    Accessor,
    accessor::{DataType, Dimensions},
    buffer,
};

/// Every number of an accessor, element by element.
pub fn numbers(accessor: &Accessor, buffers: &[buffer::Data]) -> Result<Vec<f64>, String> {
    let per = accessor.dimensions().multiplicity();
    let kind = accessor.data_type();
    if matches!(accessor.dimensions(), Dimensions::Mat2 | Dimensions::Mat3) && kind.size() < 4 {
        return Err(format!(
            "accessor {}: matrices of small integers are padded; not read here",
            accessor.index()
        ));
    }
    let mut values = match accessor.view() {
        None => vec![0.0; per * accessor.count()],
        Some(view) => {
            let stride = view.stride().unwrap_or(per * kind.size());
            read(&view, buffers, accessor.offset(), stride, accessor.count(), per, kind)?
        }
    };
    if let Some(sparse) = accessor.sparse() {
        let (i, v) = (sparse.indices(), sparse.values());
        let kind_of_index = match i.index_type() {
            gltf::accessor::sparse::IndexType::U8 => DataType::U8,
            gltf::accessor::sparse::IndexType::U16 => DataType::U16,
            gltf::accessor::sparse::IndexType::U32 => DataType::U32,
        };
        let n = sparse.count();
        let places = read(&i.view(), buffers, i.offset(), kind_of_index.size(), n, 1, kind_of_index)?;
        let replacements = read(&v.view(), buffers, v.offset(), per * kind.size(), n, per, kind)?;
        for (place, replacement) in places.iter().zip(replacements.chunks_exact(per)) {
            let at = *place as usize * per;
            values
                .get_mut(at..at + per)
                .ok_or_else(|| format!("accessor {}: a sparse index past its end", accessor.index()))?
                .copy_from_slice(replacement);
        }
    }
    if accessor.normalized() {
        let top = match kind {
            DataType::I8 => 127.0,
            DataType::U8 => 255.0,
            DataType::I16 => 32767.0,
            DataType::U16 => 65535.0,
            DataType::U32 | DataType::F32 => 1.0,
        };
        values.iter_mut().for_each(|v| *v = (*v / top).max(-1.0));
    }
    Ok(values)
}

/// The bytes of a view.
pub fn view_bytes<'a>(view: &buffer::View, buffers: &'a [buffer::Data]) -> Result<&'a [u8], String> {
    buffers
        .get(view.buffer().index())
        .and_then(|b| b.0.get(view.offset()..view.offset().checked_add(view.length())?))
        .ok_or_else(|| format!("buffer view {} lies past its buffer", view.index()))
}

fn read(
    view: &buffer::View,
    buffers: &[buffer::Data],
    offset: usize,
    stride: usize,
    count: usize,
    per: usize,
    kind: DataType,
) -> Result<Vec<f64>, String> {
    let bytes = view_bytes(view, buffers)?;
    let size = kind.size();
    let mut values = Vec::with_capacity(count.min(bytes.len()) * per);
    for element in 0..count {
        for c in 0..per {
            let at = offset + element * stride + c * size;
            let b = bytes
                .get(at..at + size)
                .ok_or_else(|| format!("an accessor lies past view {}", view.index()))?;
            values.push(match *b {
                [a] if kind == DataType::I8 => f64::from(a as i8),
                [a] => f64::from(a),
                [a, b] if kind == DataType::I16 => f64::from(i16::from_le_bytes([a, b])),
                [a, b] => f64::from(u16::from_le_bytes([a, b])),
                [a, b, c, d] if kind == DataType::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
                [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
                _ => return Err(format!("an accessor of {size}-byte numbers")),
            });
        }
    }
    Ok(values)
}
