//! The canonical form of JSON (RFC 8785, JCS), over which v0.1 mandates are hashed.

use serde_json::{Number, Value};

use super::refusal::MandateRefusal;

const DEPTH: usize = 16;

/// Integers up to 2^53 are exact in every JSON library; larger ones have no canonical form.
const EXACT: u64 = 1 << 53;

/// No white space, members sorted, and one spelling for each string and number.
pub(crate) fn canonical_json(value: &Value) -> Result<String, MandateRefusal> {
    let mut text = String::new();
    write(value, 0, &mut text)?;
    Ok(text)
}

fn write(value: &Value, depth: usize, out: &mut String) -> Result<(), MandateRefusal> {
    if depth > DEPTH {
        return Err(MandateRefusal::TooDeep);
    }
    match value {
        Value::Array(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(element, depth + 1, out)?;
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (at, (name, member)) in members.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                write(member, depth + 1, out)?;
            }
            out.push('}');
        }
        Value::Number(number) => out.push_str(&number_text(number).ok_or(MandateRefusal::MalformedMember)?),
        // serde_json escapes strings as RFC 8785 wants it: only what must be escaped, in the short form where there is one.
        plain => out.push_str(&plain.to_string()),
    }
    Ok(())
}

/// A number as ECMAScript writes it: the shortest decimal that reads back as the same double.
pub(crate) fn number_text(number: &Number) -> Option<String> {
    if number.is_f64() {
        return number.as_f64().and_then(float_text);
    }
    let is_exact = number.as_i64().is_some_and(|integer| integer.unsigned_abs() <= EXACT);
    is_exact.then(|| number.to_string())
}

fn float_text(float: f64) -> Option<String> {
    if float == 0.0 {
        return Some("0".to_owned());
    }
    let sign = if float < 0.0 { "-" } else { "" };
    let scientific = format!("{:e}", float.abs());
    let (mantissa, exponent) = scientific.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let digits = mantissa.replace('.', "");
    let text = match exponent {
        0..=20 => {
            let whole_digits = usize::try_from(exponent).ok()? + 1;
            match digits.split_at_checked(whole_digits) {
                Some((whole, fraction)) if !fraction.is_empty() => format!("{whole}.{fraction}"),
                _ => format!("{digits:0<whole_digits$}"),
            }
        }
        -6..=-1 => {
            let zeros = usize::try_from(-1 - exponent).ok()?;
            format!("0.{}{digits}", "0".repeat(zeros))
        }
        _ => format!("{mantissa}e{exponent:+}"),
    };
    Some(format!("{sign}{text}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn canonical(text: &str) -> Result<String, MandateRefusal> {
        canonical_json(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn the_examples_of_the_rfc_come_out_the_same() {
        let text = r#"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#;
        let expected = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
        assert_eq!(canonical(text).as_deref(), Ok(expected));
        let names = r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#;
        let sorted = "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}";
        assert_eq!(canonical(names).as_deref(), Ok(sorted));
    }

    #[test]
    fn numbers_are_written_as_in_ecmascript() {
        for (text, expected) in [
            ("0", "0"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("1", "1"),
            ("1.0", "1"),
            ("1.00", "1"),
            ("10e-1", "1"),
            ("-1.50", "-1.5"),
            ("0.1", "0.1"),
            ("123.456", "123.456"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("9007199254740992", "9007199254740992"),
            ("-9007199254740992", "-9007199254740992"),
            ("295147905179352830000.0", "295147905179352830000"),
            ("1e21", "1e+21"),
            ("1e20", "100000000000000000000"),
            ("9.999999999999997e22", "9.999999999999997e+22"),
            ("0.000001", "0.000001"),
            ("0.00000123", "0.00000123"),
            ("0.0000001", "1e-7"),
            ("-0.0000033333333333333333", "-0.0000033333333333333333"),
        ] {
            assert_eq!(canonical(text).as_deref(), Ok(expected), "{text}");
        }
        for text in ["9007199254740993", "-9007199254740993", "18446744073709551615"] {
            assert_eq!(canonical(text), Err(MandateRefusal::MalformedMember), "{text}");
        }
    }

    #[test]
    fn nesting_is_limited() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        assert!(canonical_json(&nested(16)).is_ok());
        assert_eq!(canonical_json(&nested(17)), Err(MandateRefusal::TooDeep));
    }
}
