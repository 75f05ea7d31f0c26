/** The functions of this repository: all of Denrei's components. */
import { ghapp, paas, pipecd, zundoko } from "@denrei/functions/components";
import { defineConfig } from "denrei/project";

export default defineConfig({
  components: [zundoko, ghapp, paas, pipecd],
  image: "denrei",
});
