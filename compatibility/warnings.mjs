// The warnings of uploads, by their cause; which file and address they name may change with the tool.

export const hiddenFiles = (count) => new RegExp(`^${count} hidden or system files? (was|were) not published: `);
export const missingFile = (name) => new RegExp(`^Missing from the upload: ${name.replaceAll('.', '\\.')} \\(in \\S+\\)\\. `);
export const MISSING_FILES = /^Missing from the upload: /;
export const DEAD_LINKS = /^Broken links: /;

/** Not said at a slug, where the page is the root of its host. */
export const LINKS_TO_ROOT = /^Links that point outside the page: /;

/** Of the strict policy. */
export const CODE_FROM_TEXT = /^csp_strict blocks code built from strings \(/;
export const HANDLERS = /^csp_strict blocks inline event handlers \(/;
export const SCRIPT_LINKS = /^csp_strict blocks javascript: links \(/;
export const FORMS = /^csp_strict blocks form submissions to other sites \(/;
export const NEW_WINDOWS = /^csp_strict blocks links that open a new window \(/;
export const OTHER_SCRIPTS = /^csp_strict blocks scripts from other sites \(/;
export const OTHER_STYLES = /^csp_strict blocks stylesheets from other sites \(/;
export const OTHER_FONTS = /^csp_strict blocks fonts or images that styles load from other sites \(/;
