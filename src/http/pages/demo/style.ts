export const style = `
  :root {
    --ink: #1b1730; --soft: #5a5572; --ground: #f6f5fb; --card: #fff; --line: #dedaf0; --accent: #5b3df5; --on-accent: #fff;
    --picture: #ece8ff; --live: #c2213f; font: 1rem/1.55 system-ui, sans-serif;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --ink: #f1effa; --soft: #b3adcb; --ground: #14111f; --card: #1e1a2e; --line: #37314f; --accent: #b3a4ff;
      --on-accent: #17112f; --picture: #2a2442;
    }
  }
  * { box-sizing: border-box; }
  body { margin: 0 auto; padding: 0 1.25rem 3rem; max-width: 72rem; background: var(--ground); color: var(--ink); }
  header { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.25rem; padding: 1rem 0; }
  header p { margin: 0; }
  .name { flex: 1; font-size: 1.25rem; font-weight: 700; letter-spacing: -.01em; }
  .cart output {
    display: inline-block; min-width: 1.75rem; padding: 0 .5rem; border-radius: 1rem; text-align: center; font-weight: 600;
    background: var(--picture);
  }
  a { color: var(--accent); }
  .dashboard {
    padding: .5rem 1rem; border-radius: .6rem; background: var(--accent); color: var(--on-accent); font-weight: 600;
    text-decoration: none;
  }
  main { display: grid; gap: 2rem; }
  @media (min-width: 60rem) { main { grid-template-columns: 3fr 2fr; } }
  .screen { position: relative; }
  video { display: block; width: 100%; aspect-ratio: 16 / 9; border-radius: .9rem; background: #241a52; }
  .live {
    position: absolute; top: .9rem; left: .9rem; padding: .1rem .7rem; border-radius: .4rem; background: var(--live); color: #fff;
    font-size: .85rem; letter-spacing: .04em; text-transform: uppercase;
  }
  h1 { margin: 1rem 0 .25rem; font-size: clamp(1.6rem, 4vw, 2.2rem); line-height: 1.15; letter-spacing: -.02em; }
  h2 { margin: 0 0 .75rem; font-size: 1.15rem; }
  .show p { margin: .25rem 0; max-width: 40rem; color: var(--soft); }
  .show #status { min-height: 1.6rem; color: var(--ink); font-weight: 600; }
  #uncounted { padding: .6rem 1rem; border: 1px solid var(--live); border-radius: .6rem; }
  ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .9rem; margin: 0; padding: 0; list-style: none; }
  li { display: flex; flex-direction: column; padding: .8rem; background: var(--card); border: 1px solid var(--line); border-radius: .9rem; }
  li svg { aspect-ratio: 4 / 3; padding: .6rem; border-radius: .6rem; background: var(--picture); fill: var(--accent); fill-rule: evenodd; }
  h3 { margin: .6rem 0 0; font-size: 1rem; }
  li p { flex: 1; margin: 0 0 .6rem; color: var(--soft); }
  button {
    min-height: 2.5rem; border: 0; border-radius: .6rem; background: var(--accent); color: var(--on-accent); font: inherit;
    font-weight: 600; cursor: pointer;
  }
  button:active { transform: translateY(1px); }
  .unseen { position: absolute; overflow: hidden; width: 1px; height: 1px; clip-path: inset(50%); }
  :focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
`;
