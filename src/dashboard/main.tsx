import { render } from "preact";
import { App } from "./components/App.js";

const root = document.querySelector("#app");
if (root !== null) render(<App />, root);

// Paper is light, also where the screen is dark: charts, which are drawn in pixels, are drawn anew with its colors.
const { classList } = document.documentElement;
addEventListener("beforeprint", () => classList.add("printing"));
addEventListener("afterprint", () => classList.remove("printing"));
