//! Values as Python writes them: numbers, texts, lists, dicts and calls.

use serde_json::{Map, Value};

/// The greatest depth of lists and calls within each other.
const MOST_NESTED: usize = 16;

/// A value as it is written.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// A number, a text, `True`, `False` or `None`. A text may lack its quotes, because shells remove them.
    Plain(Value),
    /// A list or a tuple.
    List(Vec<Literal>),
    /// A dict.
    Dict(Vec<(String, Literal)>),
    /// `Name(...)`, without the module that the name is in.
    Call(String, Arguments),
}

/// What stands between the parentheses of a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Arguments {
    pub unnamed: Vec<Literal>,
    pub named: Vec<(String, Literal)>,
}

impl Literal {
    /// The JSON of what is not a call, and a list of the JSON of its items.
    pub fn plain(self, call: &dyn Fn(String, Arguments) -> Result<Value, String>) -> Result<Value, String> {
        Ok(match self {
            Literal::Plain(value) => value,
            Literal::List(items) => {
                Value::Array(items.into_iter().map(|item| item.plain(call)).collect::<Result<_, _>>()?)
            }
            Literal::Dict(items) => {
                let items = items.into_iter().map(|(name, item)| Ok((name, item.plain(call)?)));
                Value::Object(items.collect::<Result<Map<_, _>, String>>()?)
            }
            Literal::Call(name, arguments) => call(name, arguments)?,
        })
    }
}

/// Reads the arguments of a call, without its parentheses.
pub fn arguments(text: &str) -> Result<Arguments, String> {
    let mut reader = Reader { text, at: 0, nested: 0 };
    reader.arguments(None)
}

struct Reader<'a> {
    text: &'a str,
    /// In bytes, at the border of a character.
    at: usize,
    nested: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Whether this is the next character, which is then read.
    fn takes(&mut self, expected: char) -> bool {
        self.skip_spaces();
        let is_next = self.rest().starts_with(expected);
        self.at += if is_next { expected.len_utf8() } else { 0 };
        is_next
    }

    fn wrong(&self, expected: &str) -> String {
        let column = self.text[..self.at].chars().count() + 1;
        match self.rest().chars().next() {
            Some(found) => format!("at character {column}: expected {expected}, found {found:?}"),
            None => format!("at the end: expected {expected}"),
        }
    }

    /// Reads items that commas separate, up to `end`, or to the end of the text.
    fn items(
        &mut self,
        end: Option<char>,
        mut item: impl FnMut(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let is_over = |reader: &mut Self| match end {
            Some(end) => reader.takes(end),
            None => reader.rest().trim_start().is_empty(),
        };
        self.nested += 1;
        if self.nested > MOST_NESTED {
            return Err(self.wrong("fewer parentheses within each other"));
        }
        while !is_over(self) {
            item(self)?;
            if self.takes(',') {
                continue;
            } else if is_over(self) {
                break;
            }
            return Err(self.wrong("a comma"));
        }
        self.nested -= 1;
        Ok(())
    }

    fn arguments(&mut self, end: Option<char>) -> Result<Arguments, String> {
        let mut arguments = Arguments::default();
        self.items(end, |reader| {
            reader.skip_spaces();
            let start = reader.at;
            let name = reader.word().to_owned();
            if !name.is_empty() && reader.takes('=') {
                let value = reader.literal()?;
                arguments.named.push((name, value));
            } else {
                reader.at = start;
                arguments.unnamed.push(reader.literal()?);
            }
            Ok(())
        })?;
        Ok(arguments)
    }

    /// Reads what has no quotes: a name, a number, or a text such as `200GB` or `30000/1001`.
    fn word(&mut self) -> &str {
        let is_end = |c: char| c.is_whitespace() || "=,()[]{}:'\"".contains(c);
        let length = self.rest().find(is_end).unwrap_or(self.rest().len());
        self.at += length;
        &self.text[self.at - length..self.at]
    }

    fn literal(&mut self) -> Result<Literal, String> {
        self.skip_spaces();
        match self.rest().chars().next() {
            Some(quote @ ('"' | '\'')) => Ok(Literal::Plain(Value::String(self.quoted(quote)?))),
            Some('(') => self.list(')'),
            Some('[') => self.list(']'),
            Some('{') => self.dict(),
            _ => {
                let word = self.word().to_owned();
                match word.as_str() {
                    "" => Err(self.wrong("a value")),
                    name if self.takes('(') => {
                        let name = name.rsplit('.').next().unwrap_or_default().to_owned();
                        Ok(Literal::Call(name, self.arguments(Some(')'))?))
                    }
                    word => Ok(Literal::Plain(plain(word))),
                }
            }
        }
    }

    fn list(&mut self, end: char) -> Result<Literal, String> {
        self.at += 1;
        let mut items = Vec::new();
        self.items(Some(end), |reader| {
            items.push(reader.literal()?);
            Ok(())
        })?;
        Ok(Literal::List(items))
    }

    fn dict(&mut self) -> Result<Literal, String> {
        self.at += 1;
        let mut items = Vec::new();
        self.items(Some('}'), |reader| {
            let Literal::Plain(Value::String(name)) = reader.literal()? else { return Err(reader.wrong("a name")) };
            if !reader.takes(':') {
                return Err(reader.wrong("a colon"));
            }
            items.push((name, reader.literal()?));
            Ok(())
        })?;
        Ok(Literal::Dict(items))
    }

    fn quoted(&mut self, quote: char) -> Result<String, String> {
        self.at += 1;
        let mut text = String::new();
        let mut is_escaped = false;
        for (at, c) in self.rest().char_indices() {
            match c {
                '\\' if !is_escaped => is_escaped = true,
                c if c == quote && !is_escaped => {
                    self.at += at + 1;
                    return Ok(text);
                }
                c => {
                    text.push(c);
                    is_escaped = false;
                }
            }
        }
        self.at = self.text.len();
        Err(self.wrong(if quote == '"' { "a closing \"" } else { "a closing '" }))
    }
}

fn plain(word: &str) -> Value {
    match word {
        "None" => Value::Null,
        "True" => true.into(),
        "False" => false.into(),
        // JSON has no infinity.
        "inf" => f64::MAX.into(),
        word => {
            serde_json::from_str(&word.replace('_', "")).ok().filter(Value::is_number).unwrap_or_else(|| word.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_read_as_python_writes_them() {
        let read =
            arguments(r#" 1_000, -0.5, 'a "b\'', x=True,y = [1, (2.5,), []], z={"k": None}, w=m.F(3, a=b), "#).unwrap();
        let plain = |value: Value| Literal::Plain(value);
        assert_eq!(read.unnamed, [plain(json!(1000)), plain(json!(-0.5)), plain(json!("a \"b'"))]);
        let call = Arguments { unnamed: vec![plain(json!(3))], named: vec![("a".into(), plain(json!("b")))] };
        let list = vec![plain(json!(1)), Literal::List(vec![plain(json!(2.5))]), Literal::List(vec![])];
        assert_eq!(
            read.named,
            [
                ("x".to_owned(), plain(json!(true))),
                ("y".to_owned(), Literal::List(list)),
                ("z".to_owned(), Literal::Dict(vec![("k".into(), plain(Value::Null))])),
                ("w".to_owned(), Literal::Call("F".into(), call)),
            ]
        );
        assert_eq!(arguments("a=200GB, b=30000/1001").unwrap().named[0].1, plain(json!("200GB")));
        assert_eq!(arguments("  ").unwrap(), Arguments::default());
    }

    #[test]
    fn what_is_not_closed_is_an_error_with_its_place() {
        for (text, wrong) in [
            ("a=(1", "at the end: expected a comma"),
            ("a=(1]", "at character 5: expected a comma, found ']'"),
            ("a=", "at the end: expected a value"),
            ("a='x", "at the end: expected a closing '"),
            ("a b", "at character 3: expected a comma, found 'b'"),
            ("a={1: 2}", "at character 5: expected a name, found ':'"),
            ("ü=)", "at character 3: expected a value, found ')'"),
        ] {
            assert_eq!(arguments(text).unwrap_err(), wrong, "{text}");
        }
        let deep = "(".repeat(100_000);
        assert!(arguments(&deep).unwrap_err().contains("fewer parentheses"));
    }
}
