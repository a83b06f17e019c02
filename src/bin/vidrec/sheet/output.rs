//! The file of a sheet, in the format that its name asks for.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::outcome::Failure;
use crate::picture::{Animation, Picture, jpeg, png};

/// What a sheet is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Png,
    Jpeg,
    /// An animation.
    Gif,
}

/// A path whose ending names a format.
#[derive(Debug, Clone)]
pub struct SheetPath {
    pub path: PathBuf,
    pub format: Format,
}

/// Reads the path of a sheet from the command line.
pub fn sheet_path(text: &str) -> Result<SheetPath, String> {
    let path = crate::storage::local(text)?;
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let format = match ending.as_deref() {
        Some("png") => Format::Png,
        Some("jpg" | "jpeg") => Format::Jpeg,
        Some("gif") => Format::Gif,
        Some(other) => return Err(format!("vidrec cannot write a sheet as .{other}; use .png, .jpg or .gif")),
        None => return Err("the file name has no ending; use .png, .jpg or .gif".to_owned()),
    };
    Ok(SheetPath { path, format })
}

/// Writes a picture.
pub fn picture(to: &SheetPath, picture: &Picture) -> Result<(), Failure> {
    let write = |file: &mut dyn Write| match to.format {
        Format::Jpeg => jpeg(file, picture),
        Format::Png | Format::Gif => png(file, picture),
    };
    Ok(vidrec::write_whole(&to.path, write)?)
}

/// Writes an animation of some pictures a second, which repeats for ever.
pub fn animation(
    to: &Path,
    size: (u32, u32),
    rate: u64,
    mut pictures: impl Iterator<Item = Picture>,
) -> Result<(), Failure> {
    let write = |file: &mut dyn Write| {
        let mut animation = Animation::new(file, size, (100 / rate) as u16)?;
        pictures.try_for_each(|picture| animation.add(&picture))
    };
    Ok(vidrec::write_whole(to, write)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_the_format() {
        let format = |text| sheet_path(text).map(|sheet| sheet.format);
        assert_eq!(format("a/b.PNG"), Ok(Format::Png));
        assert_eq!([format("b.jpeg"), format("b.jpg")], [Ok(Format::Jpeg), Ok(Format::Jpeg)]);
        assert_eq!(format("b.gif"), Ok(Format::Gif));
        assert!(format("b.tiff").unwrap_err().contains(".tiff") && format("png").unwrap_err().contains("no ending"));
        assert!(format("s3://bucket/x.png").is_err());
    }
}
