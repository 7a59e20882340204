"use strict";
// node permissions: worker
//
// Runs a job written in JavaScript. The job gets an engine of its own, without files, network or
// modules, and a thread of its own, so that the agent's CANCEL is heard while it computes.
//
//   node run.js -p CODE.js ... -i RESULT.json ... -x PARAMETERS
//
// PARAMETERS is JSON, or the name of a file with JSON. One of
//   {"entry": "weevil_main", "parameters": ["a", "b"], "returns": "Number",
//    "arguments": [{"name": "a", "value": 44}, {"name": "b", "input": 0}]}
//        calls a function of the first CODE; "input": n is the n-th RESULT, "gathered": n are the
//        first n of them as an array
//   {"pool": {"processor": CALL, "reducer": CALL}}
//        calls the function of the first CODE for each element of the first RESULT, and that of
//        the second with all that came of it
//   {"constant": VALUE}
//        is the result itself
// A result is a file of JSON; an empty one is undefined.

const fs = require("node:fs");
const vm = require("node:vm");
const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");

const RESULT = "result.json";
const RESULT_BYTES_MAX = 256 * 1024 * 1024;

class JobError extends Error {}

function arguments_of(words) {
  const given = { "-p": [], "-i": [], "-x": [] };
  let option = "";
  for (const word of words) {
    if (word in given && !(option === "-x" && given["-x"].length === 0)) option = word;
    else if (option) given[option].push(word);
    else throw new JobError(`${word} stands where -p, -i or -x was expected`);
  }
  return { code: given["-p"], inputs: given["-i"], parameters: given["-x"].join(" ") };
}

function parameters_of(text) {
  const written = text.trimStart().startsWith("{") ? text : fs.readFileSync(text, "utf8");
  try {
    return JSON.parse(written);
  } catch (error) {
    throw new JobError(`the parameters are no JSON: ${error.message}`);
  }
}

function read_result(path) {
  if (path === undefined) throw new JobError("a result that this job needs was not given");
  if (fs.statSync(path).size > RESULT_BYTES_MAX) throw new JobError(`${path} is too large`);
  const text = fs.readFileSync(path, "utf8");
  try {
    return text.trim() === "" ? undefined : JSON.parse(text);
  } catch (error) {
    throw new JobError(`${path} is no JSON: ${error.message}`);
  }
}

function type_of(value) {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return "Array";
  const name = typeof value;
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function checked(value, call, file) {
  const type = type_of(value);
  if (call.returns && type !== call.returns && call.returns !== "undefined") {
    throw new JobError(`${file} returned ${type}, but ${call.returns} was to be returned`);
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new JobError(`${file} returned ${value}, which cannot be passed on`);
  }
  return ArrayBuffer.isView(value) ? Array.from(value) : value;
}

function loaded(path, call) {
  // A value enters the job's own engine as text, so that it is an array or object of that engine.
  const context = vm.createContext({}, { codeGeneration: { strings: true, wasm: true } });
  context.console = undefined;
  vm.runInContext("globalThis.self = globalThis;", context);
  vm.runInContext(fs.readFileSync(path, "utf8"), context, { filename: path });
  const entry = vm.runInContext(`typeof ${call.entry} === "function" ? ${call.entry} : null`, context);
  if (entry === null) throw new JobError(`${path} has no function ${call.entry}`);
  const parse = vm.runInContext("JSON.parse", context);
  const inside = (value) => (value === undefined ? undefined : parse(JSON.stringify(value)));
  return (values) => entry(...values.map(inside));
}

function names_of(path, call) {
  // The order of the function's own parameters counts, not that of the ports.
  const code = fs.readFileSync(path, "utf8").replace(/\/\*[^]*?\*\/|\/\/[^\n]*/g, "");
  const found = new RegExp(`\\bfunction\\s+${call.entry}\\s*\\(([^)]*)\\)`).exec(code);
  if (found === null) return call.parameters;
  return found[1].split(",").map((name) => name.trim()).filter((name) => name !== "");
}

function value_of(given, inputs) {
  if ("gathered" in given) return inputs.slice(0, given.gathered).map(read_result);
  return "input" in given ? read_result(inputs[given.input]) : given.value;
}

async function call_job(told, code, inputs) {
  const values = new Map(told.arguments.map((each) => [each.name, value_of(each, inputs)]));
  const ordered = names_of(code[0], told).map((name) => values.get(name));
  return checked(await loaded(code[0], told)(ordered), told, code[0]);
}

async function call_pool(pool, code, inputs, progress) {
  const values = read_result(inputs[0]);
  if (!Array.isArray(values)) throw new JobError("what flows into a pool must be an Array");
  const processor = loaded(code[0], pool.processor);
  const results = [];
  for (const value of values) {
    results.push(checked(await processor([value]), pool.processor, code[0]));
    progress((99 * results.length) / values.length);
  }
  const reduced = await loaded(code[1] ?? code[0], pool.reducer)([results]);
  return checked(reduced, pool.reducer, code[1] ?? code[0]);
}

async function work({ code, inputs, parameters }, progress) {
  const told = parameters_of(parameters);
  if ("constant" in told) return told.constant;
  if (code.length === 0) throw new JobError("no file of code was given with -p");
  if ("pool" in told) return call_pool(told.pool, code, inputs, progress);
  if (!Array.isArray(told.arguments)) throw new JobError("the parameters name no arguments");
  return call_job(told, code, inputs);
}

async function in_thread() {
  try {
    const progress = (percent) => parentPort.postMessage({ percent });
    const value = await work(workerData, progress);
    const text = value === undefined ? "" : JSON.stringify(value);
    parentPort.postMessage({ text: text ?? "" });
  } catch (error) {
    const own = error instanceof JobError ? "" : `${error?.name ?? "Error"}: `;
    parentPort.postMessage({ failure: `${own}${error?.message ?? error}` });
  }
}

function say(line) {
  fs.writeSync(1, `${line.replace(/\s+/g, " ")}\n`);
}

function ended(code, line) {
  say(line);
  process.exit(code);
}

function listen() {
  let heard = "";
  process.stdin.on("data", (data) => {
    heard = (heard + data).slice(-64);
    if (/^CANCEL\s*$/m.test(heard)) ended(0, "CANCELLED");
  });
  process.stdin.on("error", () => {});
  process.stdin.unref?.();
}

function main() {
  let given;
  try {
    given = arguments_of(process.argv.slice(2));
  } catch (error) {
    return ended(1, `ERROR ${error.message}`);
  }
  const worker = new Worker(__filename, { workerData: given });
  let shown = 0;
  worker.on("message", ({ percent, text, failure }) => {
    if (failure !== undefined) return ended(1, `ERROR ${failure}`);
    if (percent !== undefined) {
      if (Math.floor(percent) > shown) say(`PROGRESS ${(shown = Math.floor(percent))}`);
      return undefined;
    }
    fs.writeFileSync(RESULT, text);
    return ended(0, `TERMINATED ${RESULT}`);
  });
  worker.on("error", (error) => ended(1, `ERROR ${error.message}`));
  worker.on("exit", (code) => ended(1, `ERROR the job ended its thread with ${code}`));
  listen();
  return undefined;
}

if (isMainThread) main();
else in_thread();
