/** Ways to reach a port of this machine from JavaScript, as bodies of async functions with the port as parameter. Each works in plain Node. */
export const waysOut: Readonly<Record<string, string>> = {
  "an import": `const net = await import("node:net"); net.connect(port, "127.0.0.1");`,
  "an import without node:": `const net = await import("net"); net.connect(port, "127.0.0.1");`,
  "an import of an internal module of Node": `const { Agent } = await import("_http_agent"); new Agent().createConnection({ port, host: "127.0.0.1" });`,
  http: `const http = await import("node:http"); http.get({ port, host: "127.0.0.1" }).on("error", () => {});`,
  https: `const https = await import("node:https"); https.get({ port, host: "127.0.0.1" }).on("error", () => {});`,
  http2: `const http2 = await import("node:http2"); http2.connect("http://127.0.0.1:" + port).on("error", () => {});`,
  tls: `const tls = await import("node:tls"); tls.connect(port, "127.0.0.1").on("error", () => {});`,
  dns: `const { Resolver } = await import("node:dns"); const r = new Resolver(); r.setServers(["127.0.0.1:" + port]); r.resolve("a.example.com", () => {});
    const net = await import("node:net"); net.connect(port, "127.0.0.1");`,
  fetch: `fetch("http://127.0.0.1:" + port).catch(() => {});`,
  "a WebSocket": `new WebSocket("ws://127.0.0.1:" + port).onerror = () => {};`,
  "a built-in module by its name": `process.getBuiltinModule("net").connect(port, "127.0.0.1");`,
  "an internal binding": `const { TCP, TCPConnectWrap } = process.binding("tcp_wrap"); new TCP(0).connect(new TCPConnectWrap(), "127.0.0.1", port);`,
  "a created require": `const { createRequire } = await import("node:module"); createRequire("file:///a.js")("net").connect(port, "127.0.0.1");`,
  "the loader": `const { Module } = await import("node:module"); Module._load("net").connect(port, "127.0.0.1");`,
  "custom loader hooks": `const { registerHooks } = await import("node:module");
    registerHooks({ resolve: (name, context, next) => name === "my-net" ? { url: "node:net", shortCircuit: true } : next(name, context) });
    (await import('my-net')).connect(port, "127.0.0.1");`,
  "a module as a URL": `const text = "data:text/javascript,import net from 'node:net'; export default net"; (await import(text)).default.connect(port, "127.0.0.1");`,
  "evaluated text": `(await (0, eval)("import('node:net')")).connect(port, "127.0.0.1");`,
  "a function created from text": `globalThis.constructor.constructor("return process")().getBuiltinModule("net").connect(port, "127.0.0.1");`,
  "an async function created from text": `const make = (async () => {}).constructor; make("return process")().then((p) => p.getBuiltinModule("net").connect(port, "127.0.0.1")); await make("")();`,
  "another context": `const vm = await import("node:vm"); vm.runInThisContext("process").getBuiltinModule("net").connect(port, "127.0.0.1");`,
  "the socket of standard input": `const { constructor: Socket } = process.stdin; new Socket().connect(port, "127.0.0.1");`,
  "the socket of the console": `const { constructor: Socket } = console._stdout; new Socket().connect(port, "127.0.0.1");`,
  "a program": `const { spawn } = await import("node:child_process"); spawn("bash", ["-c", "echo > /dev/tcp/127.0.0.1/" + port]);`,
  "a program that cdk8s starts": `const { Yaml } = await import("cdk8s"); Yaml.load("http://127.0.0.1:" + port + "/a.yaml");`,
  "a thread": `const { Worker } = await import("node:worker_threads"); new Worker("import('node:net').then((net) => net.connect(" + port + ", '127.0.0.1'))", { eval: true });`,
  "a forked process": `const cluster = (await import("node:cluster")).default; cluster.setupPrimary({ exec: "/dev/null" }); cluster.fork();
    process.getBuiltinModule("net").connect(port, "127.0.0.1");`,
  "prototypes that answer yes to everything": `
    for (const [object, name] of [[Array.prototype, "includes"], [String.prototype, "startsWith"], [Set.prototype, "has"], [RegExp.prototype, "test"]]) {
      try { object[name] = () => true; } catch {}
    }
    (await import("node:net")).connect(port, "127.0.0.1");`,
  "polluted prototypes": `
    for (const [name, value] of [["parentURL", "file:///a.js"], ["shortCircuit", true], ["url", "node:net"], ["format", "builtin"]]) {
      try { Object.defineProperty(Object.prototype, name, { value, configurable: true }); } catch {}
    }
    let net; try { net = await import("node:net"); } finally { for (const name of ["parentURL", "shortCircuit", "url", "format"]) delete Object.prototype[name]; }
    net.connect(port, "127.0.0.1");`,
};
