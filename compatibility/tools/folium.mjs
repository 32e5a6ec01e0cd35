// folium: Leaflet and its tiles come from other hosts; the tile server refuses requests without a Referer.

import { lacks } from '../absence.mjs';
import { OTHER_HOSTS } from '../reasons.mjs';
import * as warning from '../warnings.mjs';

export default {
  title: 'folium map',
  python: ['folium==0.20.0'],
  node: { leaflet: '1.9.3', jquery: '3.7.1', bootstrap: '5.2.2' },
  files: {
    'map.py': "import folium\nm = folium.Map(location=[51.5, -0.12], zoom_start=11)\nfolium.Marker([51.5, -0.12], popup='Here', tooltip='Middle').add_to(m)\nm.save('map.html')\n",
  },
  run: ['python map.py'],
  output: 'map.html',
  strictWarnings: [warning.OTHER_SCRIPTS, warning.OTHER_STYLES],
  network: {
    'https://cdn.jsdelivr.net/npm/leaflet@1.9.3/dist/leaflet.js': 'node_modules/leaflet/dist/leaflet.js',
    'https://cdn.jsdelivr.net/npm/leaflet@1.9.3/dist/leaflet.css': 'node_modules/leaflet/dist/leaflet.css',
    'https://code.jquery.com/jquery-3.7.1.min.js': 'node_modules/jquery/dist/jquery.min.js',
    'https://cdn.jsdelivr.net/npm/bootstrap@5.2.2/dist/js/bootstrap.bundle.min.js': 'node_modules/bootstrap/dist/js/bootstrap.bundle.min.js',
    'https://cdn.jsdelivr.net/npm/bootstrap@5.2.2/dist/css/bootstrap.min.css': 'node_modules/bootstrap/dist/css/bootstrap.min.css',
  },
  async check(page) {
    await page.locator('.leaflet-tile-loaded').first().waitFor({ state: 'attached' });
    await page.locator('.leaflet-marker-icon').click();
    await page.locator('.leaflet-popup-content').getByText('Here').waitFor();
  },
  differences: {
    strict: {
      because: OTHER_HOSTS,
      text: '',
      requests: [
        /^https:\/\/cdn\.jsdelivr\.net\/npm\/bootstrap@.*\.(css|js): failed instead of ok$/,
        /^https:\/\/cdn\.jsdelivr\.net\/npm\/leaflet@.*\.(css|js): failed instead of ok$/,
        /^https:\/\/code\.jquery\.com\/.*: failed instead of ok$/,
        /^https:\/\/cdn\.jsdelivr\.net\/npm\/leaflet@.*\.png: not requested instead of ok$/,
        /^https:\/\/tile\.openstreetmap\.org\/.*\.png: not requested instead of ok$/,
      ],
      console: [/^ReferenceError: L is not defined/],
      check: (page) => lacks(page, '.leaflet-container'),
    },
  },
};
