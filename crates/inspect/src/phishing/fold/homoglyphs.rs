//! Maps letters of other alphabets to the Latin letters they look like (homoglyphs).

/// The Latin letter that a lowercase letter of another alphabet (Cyrillic, Greek, Armenian, phonetic) imitates.
pub(crate) fn homoglyph_of(small: char) -> Option<u8> {
    Some(match small {
        'а' | 'ӕ' | 'α' | 'ᴀ' => b'a',
        'в' | 'β' => b'b',
        'с' | 'ᴄ' => b'c',
        'ԁ' | 'đ' | 'ᴅ' => b'd',
        'е' | 'ё' | 'є' | 'ε' | 'ᴇ' => b'e',
        'ց' | 'ɡ' => b'g',
        'н' | 'һ' | 'հ' | 'ħ' => b'h',
        'і' | 'ї' | 'ι' | 'ı' | 'ɪ' => b'i',
        'ј' => b'j',
        'к' | 'κ' | 'ᴋ' => b'k',
        'ӏ' | 'ł' | 'ʟ' => b'l',
        'м' | 'ᴍ' => b'm',
        'η' | 'ո' | 'ɴ' => b'n',
        'о' | 'ο' | 'σ' | 'օ' | 'ø' | 'ᴏ' => b'o',
        'р' | 'ρ' | 'ᴘ' => b'p',
        'ԛ' | 'զ' => b'q',
        'ґ' | 'ʀ' => b'r',
        'ѕ' | 'ꜱ' => b's',
        'т' | 'τ' | 'ᴛ' => b't',
        'υ' | 'ս' | 'ᴜ' => b'u',
        'ν' | 'ᴠ' => b'v',
        'ԝ' | 'ω' | 'ա' | 'ᴡ' => b'w',
        'х' | 'χ' => b'x',
        'у' | 'ү' | 'γ' | 'ʏ' => b'y',
        'ζ' | 'ᴢ' => b'z',
        _ => return None,
    })
}
