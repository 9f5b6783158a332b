/** Plants a whole clip, which takes some seconds, and answers with the model's bytes. */

import { load, type Files } from "sinew/files";

import { groundOf } from "../terrain.ts";
import { TERRAINS, type Kind } from "./grounds.ts";
import { SIDES, type Settings } from "./walk.ts";

/** What is to be planted: on a ground of the page, or on triangles. */
export interface Order {
  ground: Kind | { positions: Float32Array; indices: Uint32Array };
  settings: Settings;
}

/** The file, and the share of the contacts' time that is planted; or what went wrong. */
export type Answer = { glb: Uint8Array<ArrayBuffer>; plantedShare: number } | { failed: string };

const scope = self as unknown as { onmessage: (event: MessageEvent<Order>) => void; postMessage(answer: Answer, transfer?: Transferable[]): void };
let files: Files | undefined;

scope.onmessage = async ({ data: { ground, settings } }) => {
  try {
    files ??= await load();
    const model = files.Model.mannequin();
    const figure = model.figure();
    const { castAbove, castBelow, offset, toeOut, pelvisRate, footRate, influence } = settings;
    for (const side of SIDES) figure.setLeg(side, { soleHeight: offset, toeOut, influence });
    const on = typeof ground === "string" ? groundOf(files, TERRAINS[ground]) : files.Ground.mesh(ground.positions, ground.indices);
    const { glb, plantedShare, clip } = model.plant("walk", figure, on, { castAbove, castBelow, pelvisRate, footRate, stride: "keep" });
    [clip, on, figure, figure.body, model].forEach((object) => object.free());
    scope.postMessage({ glb, plantedShare }, [glb.buffer]);
  } catch (error) {
    scope.postMessage({ failed: error instanceof Error ? error.message : String(error) });
  }
};
