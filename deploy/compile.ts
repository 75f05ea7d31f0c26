/** Fills Node's compile cache with the modules of the image. */
await import("./cli/dashboard.ts");
// Functions import it at their first call.
await import("@denrei/functions/pipecd/api/client");
await import("denrei/compile");

export {};
