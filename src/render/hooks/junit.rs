//! Renders the results of test cases as the XML that build servers read.

use crate::scripting::tools::testcases::CaseResult;

/// Renders one suite, with one `testcase` for each case.
pub fn junit(verdicts: &[CaseResult]) -> String {
    let failed = verdicts.iter().filter(|verdict| verdict.difference.is_some()).count();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"hooks\" tests=\"{}\" failures=\"{failed}\">\n",
        verdicts.len()
    );
    for CaseResult { script, case, difference: trouble } in verdicts {
        let (script, case) = (escape_xml(script), escape_xml(case));
        let line = match trouble {
            None => format!("  <testcase classname=\"{script}\" name=\"{case}\"/>\n"),
            Some(text) => format!(
                "  <testcase classname=\"{script}\" name=\"{case}\">\n    <failure message=\"not as expected\">{}</failure>\n  \
                 </testcase>\n",
                escape_xml(text)
            ),
        };
        out.push_str(&line);
    }
    out.push_str("</testsuite>\n");
    out
}

/// Escapes characters that XML reserves, and replaces those that it cannot hold.
fn escape_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for found in text.chars() {
        match found {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(found),
            _ if found.is_control() => out.push('\u{fffd}'),
            _ => out.push(found),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_keeps_for_itself_is_written_otherwise() {
        let verdict = |trouble: Option<&str>| CaseResult {
            script: "a".to_owned(),
            case: "<b> & \"c\"".to_owned(),
            difference: trouble.map(str::to_owned),
        };
        let text = junit(&[verdict(None), verdict(Some("- x\n+ \u{1b}<y>"))]);
        assert!(text.contains("tests=\"2\" failures=\"1\""), "{text}");
        assert!(text.contains("name=\"&lt;b&gt; &amp; &quot;c&quot;\"/>"), "{text}");
        assert!(text.contains("- x\n+ \u{fffd}&lt;y&gt;</failure>"), "{text}");
    }
}
