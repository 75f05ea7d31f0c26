import { render } from "preact";
import { loadSession } from "./api/session.ts";
import { App } from "./app.tsx";
import { keepScrollPositions } from "./ui/scroll.ts";

keepScrollPositions();
const root = document.getElementById("app");
if (root) render(<App />, root);
void loadSession();
