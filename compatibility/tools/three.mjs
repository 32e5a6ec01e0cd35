// Three.js as modules with an import map.

export default {
  title: 'Three.js with an import map',
  node: { three: '0.187.0' },
  files: {
    'index.html': `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Cube</title>
<script type="importmap">{ "imports": { "three": "./vendor/three.module.js" } }</script></head>
<body><h1>Cube</h1><p id="state">waiting</p><script type="module" src="./main.js"></script></body></html>
`,
    'main.js': `import * as THREE from 'three';
const scene = new THREE.Scene();
scene.add(new THREE.Mesh(new THREE.BoxGeometry(1, 1, 1), new THREE.MeshBasicMaterial({ color: 0x00ff00 })));
const box = new THREE.Box3().setFromObject(scene);
document.querySelector('#state').textContent = 'Three ' + THREE.REVISION + ', size ' + box.getSize(new THREE.Vector3()).toArray().join(' by ');
`,
  },
  run: ['mkdir -p site/vendor', 'cp index.html main.js site/', 'cp node_modules/three/build/three.{module,core}.js site/vendor/'],
  output: 'site',
  check: (page) => page.getByText('size 1 by 1 by 1').waitFor(),
};
