//! The serde deserializer behind `Fields`: gives a struct its fields out of a JSON object, and words every error as "`name` must
//! be …". Each field of the struct is asked for, sent or not, so that its type decides what absence means.

use dropleaf_core::Error;
use dropleaf_core::site_change::Field;
use serde::de::value::{SeqDeserializer, StrDeserializer};
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, Expected, MapAccess, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value};
use std::fmt;
use std::marker::PhantomData;

/// Marks a field for which null is a value of its own; see `fields::nullable`.
pub(super) const NULLABLE: &str = "dropleaf::Nullable";

/// Why a field was refused.
#[derive(Debug)]
pub(super) struct Refusal {
    name: &'static str,
    /// Follows the name.
    why: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.name, self.why)
    }
}

impl std::error::Error for Refusal {}

impl de::Error for Refusal {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Self { name: "", why: why.to_string() }
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format_args!("must be {expected}"))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format_args!("must be {expected}"))
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::field(refusal.name, refusal.why)
    }
}

/// Deserializes a struct, and notes the names of its fields.
#[derive(Debug)]
pub(super) struct StructFields<'a> {
    pub object: &'a mut Map<String, Value>,
    pub known: &'a mut Vec<&'static str>,
}

impl<'de> Deserializer<'de> for StructFields<'_> {
    type Error = Refusal;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.known.extend_from_slice(fields);
        visitor.visit_map(Access { object: self.object, names: fields.iter(), name: "" })
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Refusal> {
        Err(de::Error::custom("is not described by a struct"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Access<'a> {
    object: &'a mut Map<String, Value>,
    names: std::slice::Iter<'static, &'static str>,
    /// The field whose value comes next.
    name: &'static str,
}

impl<'de> MapAccess<'de> for Access<'_> {
    type Error = Refusal;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Refusal> {
        let Some(name) = self.names.next() else { return Ok(None) };
        self.name = name;
        seed.deserialize(StrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Refusal> {
        let value = FieldValue(self.object.remove(self.name));
        seed.deserialize(value).map_err(|refusal| Refusal { name: self.name, ..refusal })
    }
}

/// The value of one field; None if it was not sent.
struct FieldValue(Option<Value>);

impl<'de> Deserializer<'de> for FieldValue {
    type Error = Refusal;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.0 {
            None => Err(required()),
            Some(Value::Null) => visitor.visit_unit(),
            Some(Value::Bool(flag)) => visitor.visit_bool(flag),
            Some(Value::String(text)) => visitor.visit_string(text),
            Some(Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
                (Some(number), _) => visitor.visit_i64(number),
                (None, Some(number)) => visitor.visit_f64(number),
                (None, None) => Err(de::Error::invalid_type(Unexpected::Other("number"), &visitor)),
            },
            Some(Value::Array(_)) => Err(de::Error::invalid_type(Unexpected::Seq, &visitor)),
            Some(Value::Object(_)) => Err(de::Error::invalid_type(Unexpected::Map, &visitor)),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.0 {
            None => Err(required()),
            Some(Value::Bool(flag)) => visitor.visit_bool(flag),
            Some(_) => Err(de::Error::custom("must be true or false")),
        }
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.0 {
            None | Some(Value::Null) => Err(required()),
            Some(value) => {
                let number = value.as_i64().ok_or_else(|| de::Error::custom("must be an integer"))?;
                visitor.visit_i64(number)
            }
        }
    }

    /// A list of strings; no request has another.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        let bad = || de::Error::custom("must be a list of strings");
        let Some(Value::Array(items)) = self.0 else { return Err(bad()) };
        let texts = items.into_iter().map(|item| match item {
            Value::String(text) => Ok(text),
            _ => Err(bad()),
        });
        let texts = texts.collect::<Result<Vec<_>, _>>()?;
        visitor.visit_seq(SeqDeserializer::new(texts.into_iter()))
    }

    /// An optional field may be absent but not null: the type inside refuses null.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        if self.0.is_none() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        match self.0 {
            None if name == NULLABLE => visitor.visit_none(),
            Some(Value::Null) if name == NULLABLE => visitor.visit_unit(),
            Some(_) if name == NULLABLE => visitor.visit_some(self),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct tuple tuple_struct map
        struct enum identifier
    }
}

fn required() -> Refusal {
    de::Error::custom("is required")
}

/// Tells absent, null and a value apart.
pub(super) struct FieldVisitor<T>(PhantomData<T>);

impl<T> FieldVisitor<T> {
    pub(super) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for FieldVisitor<T> {
    type Value = Field<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or null")
    }

    fn visit_none<E>(self) -> Result<Field<T>, E> {
        Ok(Field::Absent)
    }

    fn visit_unit<E>(self) -> Result<Field<T>, E> {
        Ok(Field::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Field<T>, D::Error> {
        T::deserialize(deserializer).map(Field::Value)
    }
}
