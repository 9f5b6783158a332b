// `node:test` as far as these tests use it, for the page.

const tests = [];

export default function test(name, body) {
  tests.push({ name, body });
}

/** Runs the tests of a file; a line of text for each that fails. */
export async function run(file) {
  tests.length = 0;
  await import(file);
  const results = [];
  for (const { name, body } of tests) {
    const result = { name };
    try {
      await body();
    } catch (error) {
      result.error = error instanceof Error ? `${error.message}\n${error.stack}` : String(error);
    }
    results.push(result);
  }
  return results;
}
