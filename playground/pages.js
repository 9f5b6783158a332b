// The pages, in the order of reading.
//
// A page is linked, built and tested once its tests pass: set `linked`. The dev server shows the others too.

export const pages = [
  {
    file: "follow.html",
    title: "Follow",
    summary: "One segment turns to a target and puts its end there. The next one follows its start. That is a chain.",
    linked: true,
  },
  {
    file: "two-bones.html",
    title: "Two bones",
    summary: "An arm and its target make a triangle, and the cosine rule gives its angles.",
    linked: true,
  },
  {
    file: "solvers.html",
    title: "Solvers",
    summary: "Five methods on one target, iteration by iteration.",
    linked: true,
  },
  {
    file: "limits.html",
    title: "Limits",
    summary: "A hinge, an ellipse with a twist, and a telescope: every kind of joint has its own kind of limit.",
    linked: true,
  },
  {
    file: "arm.html",
    title: "Arm",
    summary: "A robot's six joints bring its gripper to a ball, from the side that is asked for.",
    linked: true,
  },
  {
    file: "figure.html",
    title: "Figure",
    summary: "A whole body: dragged by any joint, led by nine goals, and looking around.",
    linked: true,
  },
  {
    file: "feet.html",
    title: "Feet",
    summary: "A walk meets stairs, slopes and rough ground, and its feet stand where they land.",
    linked: true,
  },
  {
    file: "handles.html",
    title: "Handles",
    summary: "Goals with names and keys: four kinds of handles under the same keys, and FK beside IK.",
    linked: true,
  },
  {
    file: "snake.html",
    title: "Snake",
    summary: "A snake crawls along a curve, and a ribbon rolls and stretches with it.",
    linked: true,
  },
  {
    file: "creature.html",
    title: "Creature",
    summary: "Four, six or eight legs walk by themselves to where you want them, over any ground.",
    linked: true,
  },
];
