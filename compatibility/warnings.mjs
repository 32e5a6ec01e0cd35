// The warnings of uploads, by their cause; which file and address they name may change with the tool.

export const hiddenFiles = (count) => new RegExp(`^${count} hidden or system files? (was|were) left out, not published: `);
export const missingFile = (name) => new RegExp(`^Not part of the upload: ${name.replaceAll('.', '\\.')} \\(in \\S+\\)\\. `);
export const MISSING_FILES = /^Not part of the upload: /;
export const DEAD_LINKS = /^Links that lead to nothing: /;

/** Not said at a slug, where the page is the root of its host. */
export const LINKS_TO_ROOT = /^Links that leave the page: /;

/** Of the strict policy. */
export const CODE_FROM_TEXT = /^csp_strict blocks code that is made from text \(/;
export const HANDLERS = /^csp_strict blocks inline event handlers \(/;
export const SCRIPT_LINKS = /^csp_strict blocks javascript: links \(/;
export const FORMS = /^csp_strict blocks forms that are sent to other sites \(/;
export const NEW_WINDOWS = /^csp_strict blocks links that open a new window \(/;
export const OTHER_SCRIPTS = /^csp_strict blocks scripts from other sites \(/;
export const OTHER_STYLES = /^csp_strict blocks stylesheets from other sites \(/;
export const OTHER_FONTS = /^csp_strict blocks fonts or images that styles load from other sites \(/;
