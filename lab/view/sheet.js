// Draws a clip of a glTF file at even times, one tile a time, into one picture. `window.sheet(options)` gives a PNG's address.
import * as THREE from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

// Light from the upper left and front, a paper-coloured ground and air: what stands out is the figure and its shadow.
const AIR = 0xeef1f4;
const GROUND = 0xcfc6b4;
const CUT = 0x8c8069;
const EDGE = 0x6b624f;

function light(scene, size) {
  scene.add(new THREE.HemisphereLight(0xffffff, 0xb9b0a0, 1.6));
  const sun = new THREE.DirectionalLight(0xfff4e2, 2.4);
  sun.castShadow = true;
  sun.shadow.mapSize.set(2048, 2048);
  sun.shadow.bias = -0.0005;
  sun.shadow.normalBias = 0.01 * size;
  const reach = 1.6 * size;
  Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1, far: 12 * size });
  scene.add(sun, sun.target);
  return sun;
}

// The ground gets our colours, lines where its faces meet at an angle, and a cut near the viewer so that nothing hides the feet.
function dress(ground, cut) {
  const lines = [];
  ground.traverse((part) => {
    if (!part.isMesh) return;
    const inside = new THREE.MeshBasicMaterial({ color: CUT, side: THREE.BackSide, clippingPlanes: [cut] });
    part.material = new THREE.MeshStandardMaterial({ color: GROUND, roughness: 1, side: THREE.FrontSide, clippingPlanes: [cut] });
    part.receiveShadow = true;
    const hollow = new THREE.Mesh(part.geometry, inside);
    const sharp = new THREE.EdgesGeometry(part.geometry, 12);
    const edges = new THREE.LineSegments(sharp, new THREE.LineBasicMaterial({ color: EDGE, clippingPlanes: [cut] }));
    lines.push([part, hollow], [part, edges]);
  });
  for (const [part, line] of lines) part.add(line);
}

// Hips by name, else the first bone from which three others go.
function findHips(bones) {
  return (
    bones.find((b) => /hips|pelvis/i.test(b.name)) ??
    bones.find((b) => b.children.filter((c) => c.isBone).length >= 3) ??
    bones[0]
  );
}

// Where a skin is in the present pose.
function box(figure, bones) {
  const all = new THREE.Box3();
  figure.traverse((part) => {
    if (!part.isSkinnedMesh) return;
    part.computeBoundingBox();
    all.union(part.boundingBox.clone().applyMatrix4(part.matrixWorld));
  });
  if (all.isEmpty()) bones.forEach((b) => all.expandByPoint(b.getWorldPosition(new THREE.Vector3())));
  return all;
}

// A figure without a mesh: its bones as sticks.
function sticks(bones) {
  const positions = new THREE.BufferAttribute(new Float32Array(6 * bones.length), 3);
  const geometry = new THREE.BufferGeometry().setAttribute("position", positions);
  const lines = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color: 0x24506e }));
  lines.frustumCulled = false;
  const v = new THREE.Vector3();
  lines.update = () => {
    bones.forEach((b, i) => {
      b.getWorldPosition(v).toArray(positions.array, 6 * i);
      (b.parent?.isBone ? b.parent : b).getWorldPosition(v).toArray(positions.array, 6 * i + 3);
    });
    positions.needsUpdate = true;
  };
  return lines;
}

window.sheet = async ({ animation, times, view, focus, hide, from, to, columns, width, height }) => {
  const gltf = await new GLTFLoader().loadAsync("/model");
  const names = gltf.animations.map((a) => a.name);
  const clip = animation === null ? gltf.animations.findLast((a) => a.name.endsWith("(planted)")) : gltf.animations.find((a) => a.name === animation);
  if (!clip) throw new Error(`no animation ${JSON.stringify(animation ?? "... (planted)")}; there are ${names.map((n) => JSON.stringify(n)).join(", ")}`);

  const scene = new THREE.Scene();
  scene.background = new THREE.Color(AIR);
  scene.add(gltf.scene);
  scene.updateMatrixWorld(true);
  const ground = gltf.scene.getObjectByName("ground");
  const bones = [];
  let skinned = false;
  gltf.scene.traverse((part) => {
    if (hide !== null && new RegExp(hide, "i").test(part.name)) part.visible = false;
    if (part.isBone) bones.push(part);
    if (part.isMesh && part !== ground) {
      part.castShadow = true;
      part.receiveShadow = true;
      part.frustumCulled = false;
    }
    skinned ||= part.isSkinnedMesh;
  });
  // Without a skin the loader makes no bones: every node that is no mesh is one.
  if (!bones.length) {
    gltf.scene.traverse((part) => {
      if (!part.isMesh && part !== gltf.scene && part !== ground) {
        part.isBone = true;
        bones.push(part);
      }
    });
  }
  if (!bones.length) throw new Error("no joints to look at");
  const hips = findHips(bones);

  const mixer = new THREE.AnimationMixer(gltf.scene);
  const action = mixer.clipAction(clip).play();
  const pose = (t) => {
    // Not `setTime`, which would start the clip over at its very end.
    action.time = Math.min(t, clip.duration);
    mixer.update(0);
    scene.updateMatrixWorld(true);
    return hips.getWorldPosition(new THREE.Vector3());
  };

  // Size, and which way it walks: where the hips go, or where they look when they go nowhere.
  const first = clip.tracks.reduce((a, t) => Math.min(a, t.times[0]), Infinity);
  const start = from ?? first;
  const end = to ?? clip.duration;
  const begin = pose(start);
  const bounds = box(gltf.scene, bones);
  const size = bounds.max.y - bounds.min.y;
  const middle = (bounds.max.y + bounds.min.y) / 2 - begin.y;
  const lowest = bounds.min.y - begin.y;
  const ahead = pose(end).sub(begin).setY(0);
  if (ahead.length() < 0.2 * size) ahead.set(0, 0, 1);
  ahead.normalize();
  const left = new THREE.Vector3(0, 1, 0).cross(ahead);

  const towards = (view === "front" ? ahead.clone() : left.clone().negate()).normalize();
  const cut = new THREE.Plane();
  if (ground) dress(ground, cut);
  const bare = skinned ? null : sticks(bones);
  if (bare) scene.add(bare);
  const sun = light(scene, size);

  const renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
  renderer.setSize(width, height);
  renderer.shadowMap.enabled = true;
  renderer.localClippingEnabled = true;
  renderer.toneMapping = THREE.NeutralToneMapping;
  const tall = (focus === "feet" ? 0.42 : 1.3) * size;
  const camera = new THREE.PerspectiveCamera(18, width / height, 0.05 * size, 60 * size);
  // The narrower side of the tile holds the figure, with its arms out.
  const distance = (tall / 2 / Math.tan((camera.fov * Math.PI) / 360)) * Math.max(1, (0.75 * height) / width);

  const rows = Math.ceil(times / columns);
  const bar = 34;
  const page = document.createElement("canvas");
  page.width = columns * width;
  page.height = rows * height + bar;
  const pen = page.getContext("2d");
  pen.fillStyle = "#26313b";
  pen.fillRect(0, 0, page.width, bar);
  pen.fillStyle = "#fff";
  pen.font = "16px sans-serif";
  pen.fillText(`${clip.name || "(unnamed)"}, from the ${view}`, 12, 22);

  for (let i = 0; i < times; i++) {
    const t = times > 1 ? start + ((end - start) * i) / (times - 1) : start;
    const at = pose(t);
    bare?.update();
    const centre = at.clone();
    centre.y += focus === "feet" ? lowest + 0.14 * size : middle;
    // Looked at a little from above, so that a tread is seen as a face and not as a line.
    const lift = view === "front" ? 0.24 : 0.14;
    camera.position.copy(centre).addScaledVector(towards, distance).add(new THREE.Vector3(0, lift * distance, 0));
    camera.lookAt(centre);
    sun.target.position.copy(centre);
    sun.position.copy(centre).add(new THREE.Vector3(0, 3.2 * size, 0)).addScaledVector(towards, 1.8 * size).addScaledVector(ahead, 1.1 * size);
    // Ground between viewer and feet is left out: from the side a section beside the nearer foot, from the front what the stairs ahead would hide.
    const keep = (view === "front" ? 0.42 : 0.2) * size;
    cut.setFromNormalAndCoplanarPoint(towards.clone().negate(), at.clone().addScaledVector(towards, keep));
    renderer.render(scene, camera);
    const x = (i % columns) * width;
    const y = bar + Math.floor(i / columns) * height;
    pen.drawImage(renderer.domElement, x, y);
    pen.strokeStyle = "#fff";
    pen.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    pen.fillStyle = "#26313b";
    pen.fillText(`${t.toFixed(2)} s`, x + 10, y + 22);
  }
  renderer.dispose();
  return page.toDataURL("image/png");
};
window.ready = true;
