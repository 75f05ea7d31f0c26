/**
 * Loads the modules of the dashboard, which the image runs from its sources, to fill Node's compile cache (NODE_COMPILE_CACHE). It
 * then starts without compiling, and without loading the TypeScript transformer.
 */
await import("denrei/command");
await import("./cli/commands.ts");
await import("./cli/dashboard.ts");

export {};
