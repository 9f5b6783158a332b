//! Templates of components, for Bevy's scenes.

/// Declares a component's template: the same fields and defaults, with entities that `bsn!` can name. (A derived one would start
/// from the defaults of the fields' types: no influence.)
macro_rules! template {
    ($(#[$about:meta])* $template:ident for $component:ident { $($entity:ident,)* ; $($field:ident: $type:ty,)* }) => {
        $(#[$about])*
        pub struct $template {
            $(
                #[doc = concat!("As [`", stringify!($component), "::", stringify!($entity), "`].")]
                pub $entity: bevy_ecs::template::OptionTemplate<bevy_ecs::template::EntityTemplate>,
            )*
            $(
                #[doc = concat!("As [`", stringify!($component), "::", stringify!($field), "`].")]
                pub $field: $type,
            )*
        }

        impl Default for $template {
            fn default() -> Self {
                let $component { $($entity: _,)* $($field,)* } = $component::default();
                Self { $($entity: Default::default(),)* $($field,)* }
            }
        }

        impl bevy_ecs::template::Template for $template {
            type Output = $component;

            fn build_template(
                &self,
                context: &mut bevy_ecs::template::TemplateContext,
            ) -> bevy_ecs::error::Result<$component> {
                Ok($component {
                    $($entity: self.$entity.build_template(context)?,)*
                    $($field: self.$field.clone(),)*
                })
            }

            fn clone_template(&self) -> Self {
                Self {
                    $($entity: self.$entity.clone_template(),)*
                    $($field: self.$field.clone(),)*
                }
            }
        }

        // As the derived ones do: whatever is `Unpin`, `Clone` and `Default` is its own template. A component is never pinned.
        impl Unpin for $component where for<'a> [()]: bevy_ecs::template::SpecializeFromTemplate {}

        impl bevy_ecs::template::FromTemplate for $component {
            type Template = $template;
        }
    };
}

pub(crate) use template;
