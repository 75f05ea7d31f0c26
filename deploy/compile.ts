/**
 * Loads all modules that processes of the image use, to fill Node's compile cache (NODE_COMPILE_CACHE). Processes then start
 * without compiling, and without loading the TypeScript transformer.
 */
/** Fills Node's compile cache with the modules of the image. */
await import("./cli/dashboard.ts");
// Functions import it at their first call.
await import("@denrei/functions/pipecd/api/client");
await import("denrei/compile");

export {};
