// `node:assert/strict` as far as these tests use it, for the page.

class AssertionError extends Error {}

const show = (value) => {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  try {
    return JSON.stringify(value, (_, inner) => (ArrayBuffer.isView(inner) ? [...inner] : typeof inner === "bigint" ? `${inner}n` : inner));
  } catch {
    return String(value);
  }
};

function ensure(holds, message, fallback) {
  if (!holds) throw message instanceof Error ? message : new AssertionError(message ?? fallback());
}

function same(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}

/** Whether an error is as expected: a class, a pattern of its message, an object with some of its properties, or a function. */
function fits(error, expected) {
  if (expected === undefined) return true;
  if (expected instanceof RegExp) return expected.test(String(error));
  if (typeof expected === "object") {
    return Object.keys(expected).every((key) =>
      expected[key] instanceof RegExp ? expected[key].test(error[key]) : same(error[key], expected[key]),
    );
  }
  if (expected === Error || expected.prototype instanceof Error) return error instanceof expected;
  return expected(error) === true;
}

function thrown(error, expected, message) {
  ensure(fits(error, expected), message, () => `unexpected error ${show(error)}, not ${show(expected)}`);
}

export default function assert(value, message) {
  ensure(value, message, () => `${show(value)} is not true`);
}

Object.assign(assert, {
  AssertionError,
  ok: assert,
  fail: (message) => ensure(false, message, () => "failed"),
  equal: (a, b, message) => ensure(Object.is(a, b), message, () => `${show(a)} is not ${show(b)}`),
  notEqual: (a, b, message) => ensure(!Object.is(a, b), message, () => `both are ${show(a)}`),
  deepEqual: (a, b, message) => ensure(same(a, b), message, () => `${show(a)} is not ${show(b)}`),
  notDeepEqual: (a, b, message) => ensure(!same(a, b), message, () => `both are ${show(a)}`),
  match: (text, pattern, message) => ensure(pattern.test(text), message, () => `${show(text)} does not match ${pattern}`),
  throws(body, expected, message) {
    try {
      body();
    } catch (error) {
      return thrown(error, expected, message);
    }
    ensure(false, message, () => "nothing was thrown");
  },
  async rejects(body, expected, message) {
    try {
      await (typeof body === "function" ? body() : body);
    } catch (error) {
      return thrown(error, expected, message);
    }
    ensure(false, message, () => "nothing was thrown");
  },
  doesNotThrow: (body) => body(),
});
