//! Declaration of option types.

/// Declares an option type, or a goal: its fields, defaults and `with_` methods. Fields marked `?` come last and are `None`
/// unless set.
macro_rules! option_type {
    (
        $(#[$about:meta])*
        $name:ident {
            $($(#[$doc:meta])* $field:ident, $with:ident: $type:ty = $default:expr;)*
            $(? $(#[$own_doc:meta])* $own:ident, $with_own:ident: $own_type:ty;)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
            $($(#[$own_doc])* pub $own: Option<$own_type>,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl $name {
            /// The defaults.
            pub const fn new() -> Self {
                Self { $($field: $default,)* $($own: None,)* }
            }

            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
                #[must_use]
                pub const fn $with(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )*

            $(
                #[doc = concat!("Sets [`", stringify!($own), "`](Self::", stringify!($own), ").")]
                #[must_use]
                pub const fn $with_own(mut self, $own: $own_type) -> Self {
                    self.$own = Some($own);
                    self
                }
            )*
        }
    };
}

pub(crate) use option_type;
