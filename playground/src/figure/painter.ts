/** Paints draw lists: one WebGL context for all panes of a page. */

import {
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  DynamicDrawUsage,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  InstancedInterleavedBuffer,
  InterleavedBufferAttribute,
  Mesh,
  PCFSoftShadowMap,
  Scene,
  ShaderMaterial,
  WebGLRenderer,
  type Object3D,
} from "three";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { LineSegments2 } from "three/addons/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/addons/lines/LineSegmentsGeometry.js";

import type { DrawList, Vertices } from "sinew/core";

import type { View } from "./view.ts";

type Batches = ReturnType<DrawList["batches"]>;

/** Width of lines and radius of dots, in pixels of CSS. */
const LINE = 2.25;
const DOT = 3.5;

// Facets stay within a factor of 0.7 of their colour, so that the contrast of the engine's themes is kept.
const SOLID = {
  vertexShader: `
    attribute vec4 tint;
    varying vec4 shade;
    varying vec3 seen;
    void main() {
      vec4 at = modelViewMatrix * vec4(position, 1.0);
      shade = tint;
      seen = at.xyz;
      gl_Position = projectionMatrix * at;
    }`,
  fragmentShader: `
    varying vec4 shade;
    varying vec3 seen;
    uniform float relief;
    void main() {
      vec3 normal = normalize(cross(dFdx(seen), dFdy(seen)));
      float light = mix(1.0, clamp(dot(normal, vec3(-0.41, 0.57, 0.71)), 0.0, 1.0), relief);
      gl_FragColor = vec4(shade.rgb * light, shade.a);
      #include <colorspace_fragment>
    }`,
};

const DISC = {
  vertexShader: `
    attribute vec3 center;
    attribute vec4 tint;
    attribute float radius;
    uniform float dot_size;
    uniform vec2 size;
    varying vec4 shade;
    varying vec2 at;
    varying float edge;
    void main() {
      vec4 middle = modelViewMatrix * vec4(center, 1.0);
      vec4 clip = projectionMatrix * middle;
      // Pixels of a radius of 1 at this depth.
      float scale = projectionMatrix[1][1] * size.y * 0.5 / clip.w;
      float pixels = radius > 0.0 ? radius * scale : dot_size;
      edge = pixels;
      // A pixel more than the disc, for its soft edge.
      at = position.xy * (pixels + 1.0);
      shade = tint;
      gl_Position = clip + vec4(at / (size * 0.5) * clip.w, 0.0, 0.0);
    }`,
  fragmentShader: `
    varying vec4 shade;
    varying vec2 at;
    varying float edge;
    void main() {
      float cover = clamp(edge + 0.5 - length(at), 0.0, 1.0);
      if (cover <= 0.0) discard;
      gl_FragColor = vec4(shade.rgb, shade.a * cover);
      #include <colorspace_fragment>
    }`,
};

/** An array on the graphics card that grows. */
class Store {
  #array = new Float32Array(0);

  /** Copies numbers; calls back with a new array where the old one is too short. */
  fill(given: Float32Array, grow: (array: Float32Array) => void): void {
    if (given.length > this.#array.length) {
      this.#array = new Float32Array(Math.max(2 * this.#array.length, given.length, 256 * 24));
      grow(this.#array);
    }
    this.#array.set(given);
  }
}

interface Layer {
  readonly object: Object3D;
  fill(given: Vertices): void;
}

/** Triangles. */
function triangles(material: ShaderMaterial): Layer {
  const geometry = new BufferGeometry();
  const [positions, colors] = [new Store(), new Store()];
  const grow = (name: string, each: number) => (array: Float32Array) => {
    geometry.dispose();
    geometry.setAttribute(name, new BufferAttribute(array, each).setUsage(DynamicDrawUsage));
  };
  const object = new Mesh(geometry, material);
  object.frustumCulled = false;
  return {
    object,
    fill(given) {
      object.visible = given.positions.length > 0;
      // What has never been filled has no attributes yet.
      if (!object.visible) return;
      positions.fill(given.positions, grow("position", 3));
      colors.fill(given.colors, grow("tint", 4));
      for (const attribute of Object.values(geometry.attributes)) (attribute as BufferAttribute).needsUpdate = true;
      geometry.setDrawRange(0, given.positions.length / 3);
    },
  };
}

function lines(material: LineMaterial): Layer {
  const geometry = new LineSegmentsGeometry();
  const [positions, colors] = [new Store(), new Store()];
  const grow = (names: [string, string], each: number) => (array: Float32Array) => {
    geometry.dispose();
    const buffer = new InstancedInterleavedBuffer(array, 2 * each, 1).setUsage(DynamicDrawUsage) as InstancedInterleavedBuffer;
    // Opacities are in the array, and not read.
    geometry.setAttribute(names[0], new InterleavedBufferAttribute(buffer, 3, 0));
    geometry.setAttribute(names[1], new InterleavedBufferAttribute(buffer, 3, each));
  };
  const object = new LineSegments2(geometry, material);
  object.frustumCulled = false;
  return {
    object,
    fill(given) {
      object.visible = given.positions.length > 0;
      // What has never been filled has no attributes yet.
      if (!object.visible) return;
      positions.fill(given.positions, grow(["instanceStart", "instanceEnd"], 3));
      colors.fill(given.colors, grow(["instanceColorStart", "instanceColorEnd"], 4));
      for (const name of ["instanceStart", "instanceColorStart"]) {
        (geometry.getAttribute(name) as InterleavedBufferAttribute).data.needsUpdate = true;
      }
      geometry.instanceCount = given.positions.length / 6;
    },
  };
}

function discs(material: ShaderMaterial): Layer & { fill(given: Batches["discs"]): void } {
  const geometry = new InstancedBufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0]), 3));
  geometry.setIndex([0, 1, 2, 0, 2, 3]);
  const [positions, colors, radii] = [new Store(), new Store(), new Store()];
  const grow = (name: string, each: number) => (array: Float32Array) => {
    geometry.dispose();
    geometry.setAttribute(name, new InstancedBufferAttribute(array, each).setUsage(DynamicDrawUsage));
  };
  const object = new Mesh(geometry, material);
  object.frustumCulled = false;
  return {
    object,
    fill(given: Batches["discs"]) {
      object.visible = given.radii.length > 0;
      if (!object.visible) return;
      positions.fill(given.positions, grow("center", 3));
      colors.fill(given.colors, grow("tint", 4));
      radii.fill(given.radii, grow("radius", 1));
      for (const name of ["center", "tint", "radius"]) geometry.getAttribute(name).needsUpdate = true;
      geometry.instanceCount = given.radii.length;
    },
  };
}

/** Draws batches into canvases. */
export class Painter {
  readonly #renderer: WebGLRenderer;
  readonly #line = new LineMaterial({ vertexColors: true, transparent: true });
  readonly #solid = new ShaderMaterial({ ...SOLID, uniforms: { relief: { value: 0.3 } }, transparent: true });
  readonly #area = new ShaderMaterial({
    ...SOLID,
    uniforms: { relief: { value: 0 } },
    transparent: true,
    depthWrite: false,
    side: DoubleSide,
  });
  readonly #disc = new ShaderMaterial({ ...DISC, uniforms: { dot_size: { value: 1 }, size: { value: [1, 1] } }, transparent: true });
  readonly #lines = lines(this.#line);
  readonly #solids = triangles(this.#solid);
  readonly #areas = triangles(this.#area);
  readonly #discs = discs(this.#disc);
  readonly #all = [this.#lines, this.#solids, this.#areas, this.#discs];
  readonly #scene = new Scene();

  private constructor(canvas: HTMLCanvasElement, context: WebGL2RenderingContext, restored: () => void) {
    this.#renderer = new WebGLRenderer({ canvas, context, alpha: true, antialias: true });
    this.#renderer.setClearColor(0, 0);
    this.#renderer.shadowMap.enabled = true;
    this.#renderer.shadowMap.type = PCFSoftShadowMap;
    for (const { object } of this.#all) this.#scene.add(object);
    // Panes keep their last picture meanwhile: they are canvases of their own.
    canvas.addEventListener("webglcontextrestored", restored);
  }

  /** A painter, or undefined where there is no WebGL. Calls back once a lost context has been restored. */
  static make(restored: () => void): Painter | undefined {
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("webgl2", { alpha: true, antialias: true, depth: true, premultipliedAlpha: true });
    return context === null ? undefined : new Painter(canvas, context, restored);
  }

  /** Whether the context is lost at present. */
  get lost(): boolean {
    return this.#renderer.getContext().isContextLost();
  }

  /** Draws into a canvas, whose size in pixels is `ratio` times that of CSS: solids first, where there are any. */
  paint(batches: Batches, view: View, canvas: HTMLCanvasElement, ratio: number, solids?: Scene): void {
    const renderer = this.#renderer;
    const { width, height } = canvas;
    const shared = renderer.domElement;
    // Grows only: a new size costs a new buffer.
    if (shared.width < width || shared.height < height) {
      renderer.setSize(Math.max(shared.width, width), Math.max(shared.height, height), false);
    }
    this.#line.linewidth = LINE * ratio;
    this.#disc.uniforms.dot_size!.value = DOT * ratio;
    this.#disc.uniforms.size!.value = [width, height];
    this.#lines.fill(batches.lines);
    this.#solids.fill(batches.solids);
    this.#areas.fill(batches.areas);
    this.#discs.fill(batches.discs);
    // In the plane all has the same depth. There, lines lie over solids and discs over lines; in space, areas come last.
    // All are of the transparent kind, which is drawn in this order.
    for (const material of [this.#line, this.#solid, this.#area, this.#disc]) material.depthTest = !view.flat;
    const order = view.flat ? [2, 1, 0, 3] : [1, 0, 3, 2];
    this.#all.forEach(({ object }, n) => (object.renderOrder = order[n]!));
    renderer.setViewport(0, 0, width, height);
    renderer.setScissor(0, 0, width, height);
    renderer.setScissorTest(true);
    if (solids) renderer.render(solids, view.camera);
    renderer.autoClear = solids === undefined;
    renderer.render(this.#scene, view.camera);
    renderer.autoClear = true;
    const onto = canvas.getContext("2d");
    onto?.clearRect(0, 0, width, height);
    onto?.drawImage(shared, 0, shared.height - height, width, height, 0, 0, width, height);
  }
}
