//! JSON Schemas of options whose Rust types say less than their texts.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use vidrec_format::sampler::ShortVideo;

/// A value that is written as a number or as text.
pub(crate) struct NumberOrText;

impl JsonSchema for NumberOrText {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NumberOrText".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["number", "string"]})
    }
}

pub(crate) fn short(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"enum": <ShortVideo as strum::VariantNames>::VARIANTS})
}
