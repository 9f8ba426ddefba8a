import {loadConfig} from "./load.ts"; import {planReload} from "./reload-plan.ts";
for (let i=0;i<3;i++){const t=performance.now(); const r=await loadConfig("/tmp/big.yaml"); console.log(r.ok? r.config.appliances.length:r.errors.slice(0,3), performance.now()-t); if(r.ok){const t=performance.now();planReload(r.config,r.config);console.log("plan",performance.now()-t)}}
