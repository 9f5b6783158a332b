/** Views of a pane: the plane from the front, or space from a camera that orbits. */

import { OrthographicCamera, PerspectiveCamera, Vector3, type Camera } from "three";

/** A point: x, y, and z where it is not 0. */
export type Point = readonly number[];
export type Point3 = [number, number, number];

/** A view: a camera, and the way between points and pixels of CSS from the pane's upper left corner. */
export interface View {
  readonly camera: Camera;
  /** Whether all lies at z = 0: drawn in order, without depth. */
  readonly flat: boolean;
  /** Fits the view to a pane's size. */
  fit(width: number, height: number): void;
  /** Position of a point in the pane. */
  project(at: Point): [number, number];
  /** The point under a position in the pane, at the depth of `near`. Stays within what the pane shows; so does what keys move. */
  unproject(x: number, y: number, near: Point): Point3;
  /** Length of a pixel of CSS at the middle of the view, for things that must not become too small to see. */
  readonly pixel: number;
  /** Turns the camera by pixels dragged; where there is none, the background cannot be dragged. */
  orbit?(dx: number, dy: number): void;
  /** Moves the point that the camera looks at. */
  aim?(at: Point): void;
  /** Moves the camera nearer (above 1) or away. */
  zoom?(factor: number): void;
}

/** Pixels by which handles stay away from the pane's edge. */
const MARGIN = 18;

/** A view of the plane z = 0: x to the right, y up, at least `width` x `height` around `center`. */
export function planeView(extent: { width: number; height: number; center?: readonly [number, number] }): View {
  const [x, y] = extent.center ?? [0, 0];
  const camera = new OrthographicCamera();
  camera.position.set(x, y, 10);
  let [scale, width, height] = [1, 1, 1];
  return {
    camera,
    flat: true,
    fit(w, h) {
      [width, height] = [w, h];
      scale = Math.min(w / extent.width, h / extent.height);
      [camera.left, camera.right, camera.bottom, camera.top] = [-w / 2 / scale, w / 2 / scale, -h / 2 / scale, h / 2 / scale];
      [camera.near, camera.far] = [0, 20];
      camera.updateProjectionMatrix();
      camera.updateMatrixWorld();
    },
    get pixel() {
      return 1 / scale;
    },
    project: (at) => [width / 2 + (at[0]! - x) * scale, height / 2 - (at[1]! - y) * scale],
    unproject: (px, py) => [x + (inside(px, width) - width / 2) / scale, y - (inside(py, height) - height / 2) / scale, 0],
  };
}

function inside(at: number, size: number): number {
  return Math.min(Math.max(at, MARGIN), size - MARGIN);
}

/** Options of {@link spaceView}. */
export interface SpaceOptions {
  /** Point that the camera looks at. */
  target: Point3;
  /** Radius around the target that is in view, whatever the pane's shape. */
  radius: number;
  /** Direction of the camera from the target, in degrees: about y from z, and up from the floor. */
  yaw?: number;
  pitch?: number;
}

/** Vertical field of view, in degrees. Narrow, so that lengths compare across the figure. */
const FIELD = 30;

/** A view of space, y up, by a camera that orbits about a point. */
export function spaceView({ target, radius, yaw = 30, pitch = 20 }: SpaceOptions): View {
  const camera = new PerspectiveCamera(FIELD);
  const center = new Vector3(...target);
  const at = new Vector3();
  let [a, b, zoom, width, height] = [(yaw * Math.PI) / 180, (pitch * Math.PI) / 180, 1, 1, 1];
  const place = () => {
    const aspect = width / height;
    const half = (FIELD * Math.PI) / 360;
    const narrow = aspect < 1 ? Math.atan(Math.tan(half) * aspect) : half;
    const distance = radius / Math.sin(narrow) / zoom;
    camera.aspect = aspect;
    [camera.near, camera.far] = [distance / 100, distance + 50 * radius];
    camera.position.set(Math.sin(a) * Math.cos(b), Math.sin(b), Math.cos(a) * Math.cos(b)).multiplyScalar(distance).add(center);
    camera.lookAt(center);
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
  };
  return {
    camera,
    flat: false,
    fit(w, h) {
      [width, height] = [w, h];
      place();
    },
    get pixel() {
      return (2 * Math.tan((FIELD * Math.PI) / 360) * camera.position.distanceTo(center)) / height;
    },
    project(point) {
      at.set(point[0]!, point[1]!, point[2] ?? 0).project(camera);
      return [((at.x + 1) / 2) * width, ((1 - at.y) / 2) * height];
    },
    unproject(px, py, near) {
      const depth = at.set(near[0]!, near[1]!, near[2] ?? 0).project(camera).z;
      at.set((inside(px, width) / width) * 2 - 1, 1 - (inside(py, height) / height) * 2, depth).unproject(camera);
      return at.toArray() as Point3;
    },
    orbit(dx, dy) {
      a -= dx * 0.008;
      b = Math.min(Math.max(b + dy * 0.008, -0.2), 1.45);
      place();
    },
    aim(to) {
      center.set(to[0]!, to[1]!, to[2] ?? 0);
      place();
    },
    zoom(factor) {
      zoom = Math.min(Math.max(zoom * factor, 0.5), 4);
      place();
    },
  };
}
