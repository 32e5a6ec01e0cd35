// Swagger UI from its own distribution, with a description beside it.

import * as warning from '../warnings.mjs';

const description = {
  openapi: '3.0.3',
  info: { title: 'Shop', version: '1.0.0' },
  paths: { '/items': { get: { summary: 'List items', responses: { 200: { description: 'All items' } } } } },
};

export default {
  title: 'Swagger UI',
  node: { 'swagger-ui-dist': '5.34.1' },
  files: { 'openapi.json': JSON.stringify(description) },
  run: [
    'mkdir site',
    'cp openapi.json node_modules/swagger-ui-dist/{index.html,index.css,swagger-ui.css,swagger-ui-bundle.js,swagger-ui-standalone-preset.js,favicon-32x32.png,favicon-16x16.png} site/',
    "sed 's#https://petstore.swagger.io/v2/swagger.json#openapi.json#' node_modules/swagger-ui-dist/swagger-initializer.js > site/swagger-initializer.js",
  ],
  output: 'site',
  spa: true,
  cookie: true,
  strictWarnings: [warning.CODE_FROM_TEXT],
  async check(page) {
    await page.locator('.opblock-summary-control').first().click();
    await page.getByText('All items').waitFor();
  },
};
