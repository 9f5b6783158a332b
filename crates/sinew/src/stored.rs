//! Serialisation of infinite limits. JSON and other formats have no infinity, so an absent limit is stored as `None`.

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};

/// Serialises a limit, as `None` where it equals `none`.
fn write<T: Copy + Into<f64> + Serialize, S: Serializer>(
    value: T,
    none: f64,
    to: S,
) -> Result<S::Ok, S::Error> {
    match value.into() {
        number if number == none => to.serialize_none(),
        number if number.is_finite() => to.serialize_some(&value),
        number => Err(ser::Error::custom(format_args!("{number} cannot be stored as a limit"))),
    }
}

/// Upper limits; infinity means no limit.
pub(crate) mod upper {
    use super::*;

    pub fn serialize<T: Copy + Into<f64> + Serialize, S: Serializer>(
        value: &T,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        write(*value, f64::INFINITY, to)
    }

    pub fn deserialize<'de, T: Deserialize<'de> + From<f32>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<T, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(f32::INFINITY.into()))
    }
}

/// Lower limits; minus infinity means no limit.
pub(crate) mod lower {
    use super::*;

    pub fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        write(*value, f64::NEG_INFINITY, to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(f64::NEG_INFINITY))
    }
}
