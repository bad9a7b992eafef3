// @ts-nocheck: generated JavaScript
// Made from schemas/ by scripts/generate-validators.mjs. Do not edit: change the schema and run it again.

/** Counts code points, as JSON Schema does, without an array of them. */
function countCharacters(text) {
  let count = 0
  for (const _ of text) count++
  return count
}
const check0 = validate0;
const schema0 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"batch-request.schema.json","title":"BatchRequest","description":"JSON body of POST /compute/v0/batch. Unknown members are ignored, except those that resemble an option: these are rejected.","type":"object","required":["items","chainId"],"properties":{"chainId":{"$ref":"compute-request.schema.json#/$defs/ChainId"},"recipient":{"$ref":"compute-request.schema.json#/$defs/Recipient"},"attest":{"$ref":"#/$defs/Attest"},"sequence":{"$ref":"#/$defs/Sequence"},"geometries":{"description":"Inputs that items name with {\"named\": \"…\"}. Each is read once for all items. Each name must be used. All together have the limits of one request for bytes, vertices and parts.","type":"object","maxProperties":64,"propertyNames":{"$ref":"input.schema.json#/$defs/InputName"},"additionalProperties":{"$ref":"input.schema.json#/$defs/InputWithName"}},"options":{"$ref":"#/$defs/BatchDelivery"},"items":{"type":"array","items":{"$ref":"#/$defs/BatchItem"}}},"$defs":{"Attest":{"description":"each: every result is signed; merkle: one signature over the root of all results, with a Merkle proof for each result; none: no signature.","type":"string","enum":["each","merkle","none"]},"BatchDelivery":{"title":"BatchDelivery","description":"How the results are delivered. Unknown members are ignored, except those that resemble an option: these are rejected.","type":"object","properties":{"submitOnchain":{"description":"true: the service submits the results to the chain itself; each of them with attest each, one root with attest merkle. This needs an API key.","type":"boolean"}}},"Sequence":{"description":"same: every signature has the current nonce, so only one of them can be submitted; consecutive: all can be submitted together, in the order of multi. consecutive needs attest each and at most 40 items.","type":"string","enum":["same","consecutive"]},"BatchOptions":{"title":"BatchOptions","description":"Query of POST /compute/v0/batch and of POST /compute/v0/jobs with a body of application/x-ndjson. Each parameter may appear once; other parameters are rejected.","type":"object","properties":{"chainId":{"$ref":"compute-request.schema.json#/$defs/ChainId"},"recipient":{"$ref":"compute-request.schema.json#/$defs/Recipient"},"attest":{"$ref":"#/$defs/Attest"},"sequence":{"$ref":"#/$defs/Sequence"},"submitOnchain":{"description":"Only for a job: true has the service submit the results to the chain, as options.submitOnchain of a JSON batch.","type":"boolean"}}},"BatchItem":{"title":"BatchItem","description":"One operation: the members of its single request, and the members below. Each line of application/x-ndjson is one item.","type":"object","required":["op"],"properties":{"op":{"type":"string","enum":["distance","area","length","contains","within","intersects","relate","equals","disjoint","touches","crosses","overlaps","covers","coveredBy","direct","waypoints","nearest","buffer","repair"]},"id":{"description":"Returned with the result. A number must be an integer that a double represents exactly.","type":["string","integer"],"maxLength":128,"minimum":-9007199254740991,"maximum":9007199254740991},"chainId":{"$ref":"compute-request.schema.json#/$defs/ChainId"},"schema":{"$ref":"compute-request.schema.json#/$defs/SchemaUid"},"recipient":{"$ref":"compute-request.schema.json#/$defs/Recipient"}}}}};
const schema3 = {"description":"EIP-155 id of the chain that the delegated attestation is formatted for.","type":"integer","minimum":1,"maximum":9007199254740991};
const schema7 = {"description":"Address of the recipient. Default: the zero address.","type":"string","pattern":"^0x[0-9a-fA-F]{40}$"};
const schema76 = {"description":"each: every result is signed; merkle: one signature over the root of all results, with a Merkle proof for each result; none: no signature.","type":"string","enum":["each","merkle","none"]};
const schema77 = {"description":"same: every signature has the current nonce, so only one of them can be submitted; consecutive: all can be submitted together, in the order of multi. consecutive needs attest each and at most 40 items.","type":"string","enum":["same","consecutive"]};
const schema78 = {};
const schema79 = {};
const schema80 = {"title":"BatchDelivery","description":"How the results are delivered. Unknown members are ignored, except those that resemble an option: these are rejected.","type":"object","properties":{"submitOnchain":{"description":"true: the service submits the results to the chain itself; each of them with attest each, one root with attest merkle. This needs an API key.","type":"boolean"}}};
const pattern1 = new RegExp("^0x[0-9a-fA-F]{40}$", "u");
const schema81 = {"title":"BatchItem","description":"One operation: the members of its single request, and the members below. Each line of application/x-ndjson is one item.","type":"object","required":["op"],"properties":{"op":{"type":"string","enum":["distance","area","length","contains","within","intersects","relate","equals","disjoint","touches","crosses","overlaps","covers","coveredBy","direct","waypoints","nearest","buffer","repair"]},"id":{"description":"Returned with the result. A number must be an integer that a double represents exactly.","type":["string","integer"],"maxLength":128,"minimum":-9007199254740991,"maximum":9007199254740991},"chainId":{"$ref":"compute-request.schema.json#/$defs/ChainId"},"schema":{"$ref":"compute-request.schema.json#/$defs/SchemaUid"},"recipient":{"$ref":"compute-request.schema.json#/$defs/Recipient"}}};
const schema6 = {"description":"UID of the attestation schema. Default: the service's own schema.","type":"string","pattern":"^0x[0-9a-fA-F]{64}$"};
const func0 = countCharacters;
const pattern0 = new RegExp("^0x[0-9a-fA-F]{64}$", "u");

function validate29(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate29.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.op === undefined) && (missing0 = "op")){
validate29.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema81.required,parentSchema:schema81,data}];
return false;
}
else {
if(data.op !== undefined){
let data0 = data.op;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate29.errors = [{instancePath:instancePath+"/op",schemaPath:"#/properties/op/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema81.properties.op.type,parentSchema:schema81.properties.op,data:data0}];
return false;
}
if(!(((((((((((((((((((data0 === "distance") || (data0 === "area")) || (data0 === "length")) || (data0 === "contains")) || (data0 === "within")) || (data0 === "intersects")) || (data0 === "relate")) || (data0 === "equals")) || (data0 === "disjoint")) || (data0 === "touches")) || (data0 === "crosses")) || (data0 === "overlaps")) || (data0 === "covers")) || (data0 === "coveredBy")) || (data0 === "direct")) || (data0 === "waypoints")) || (data0 === "nearest")) || (data0 === "buffer")) || (data0 === "repair"))){
validate29.errors = [{instancePath:instancePath+"/op",schemaPath:"#/properties/op/enum",keyword:"enum",params:{allowedValues: schema81.properties.op.enum},message:"must be equal to one of the allowed values",schema:schema81.properties.op.enum,parentSchema:schema81.properties.op,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.id !== undefined){
let data1 = data.id;
const _errs3 = errors;
if((typeof data1 !== "string") && (!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1))))){
validate29.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: schema81.properties.id.type},message:"must be string,integer",schema:schema81.properties.id.type,parentSchema:schema81.properties.id,data:data1}];
return false;
}
if(errors === _errs3){
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 9007199254740991 || isNaN(data1)){
validate29.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema81.properties.id,data:data1}];
return false;
}
else {
if(data1 < -9007199254740991 || isNaN(data1)){
validate29.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/minimum",keyword:"minimum",params:{comparison: ">=", limit: -9007199254740991},message:"must be >= -9007199254740991",schema:-9007199254740991,parentSchema:schema81.properties.id,data:data1}];
return false;
}
}
}
if(errors === _errs3){
if(typeof data1 === "string"){
if(func0(data1) > 128){
validate29.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters",schema:128,parentSchema:schema81.properties.id,data:data1}];
return false;
}
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.chainId !== undefined){
let data2 = data.chainId;
const _errs5 = errors;
const _errs6 = errors;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
validate29.errors = [{instancePath:instancePath+"/chainId",schemaPath:"compute-request.schema.json#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data2}];
return false;
}
if(errors === _errs6){
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 9007199254740991 || isNaN(data2)){
validate29.errors = [{instancePath:instancePath+"/chainId",schemaPath:"compute-request.schema.json#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data2}];
return false;
}
else {
if(data2 < 1 || isNaN(data2)){
validate29.errors = [{instancePath:instancePath+"/chainId",schemaPath:"compute-request.schema.json#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data2}];
return false;
}
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.schema !== undefined){
let data3 = data.schema;
const _errs8 = errors;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data3 === "string"){
if(!pattern0.test(data3)){
validate29.errors = [{instancePath:instancePath+"/schema",schemaPath:"compute-request.schema.json#/$defs/SchemaUid/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema6,data:data3}];
return false;
}
}
else {
validate29.errors = [{instancePath:instancePath+"/schema",schemaPath:"compute-request.schema.json#/$defs/SchemaUid/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema6.type,parentSchema:schema6,data:data3}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.recipient !== undefined){
let data4 = data.recipient;
const _errs11 = errors;
const _errs12 = errors;
if(errors === _errs12){
if(typeof data4 === "string"){
if(!pattern1.test(data4)){
validate29.errors = [{instancePath:instancePath+"/recipient",schemaPath:"compute-request.schema.json#/$defs/Recipient/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema7,data:data4}];
return false;
}
}
else {
validate29.errors = [{instancePath:instancePath+"/recipient",schemaPath:"compute-request.schema.json#/$defs/Recipient/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema7.type,parentSchema:schema7,data:data4}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate29.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema81.type,parentSchema:schema81,data}];
return false;
}
}
validate29.errors = vErrors;
return errors === 0;
}
validate29.evaluated = {"props":{"op":true,"id":true,"chainId":true,"schema":true,"recipient":true},"dynamicProps":false,"dynamicItems":false};


function validate0(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="batch-request.schema.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate0.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.items === undefined) && (missing0 = "items")) || ((data.chainId === undefined) && (missing0 = "chainId"))){
validate0.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema0.required,parentSchema:schema0,data}];
return false;
}
else {
if(data.chainId !== undefined){
let data0 = data.chainId;
const _errs1 = errors;
const _errs2 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate0.errors = [{instancePath:instancePath+"/chainId",schemaPath:"compute-request.schema.json#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data0}];
return false;
}
if(errors === _errs2){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate0.errors = [{instancePath:instancePath+"/chainId",schemaPath:"compute-request.schema.json#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data0}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate0.errors = [{instancePath:instancePath+"/chainId",schemaPath:"compute-request.schema.json#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data0}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.recipient !== undefined){
let data1 = data.recipient;
const _errs4 = errors;
const _errs5 = errors;
if(errors === _errs5){
if(typeof data1 === "string"){
if(!pattern1.test(data1)){
validate0.errors = [{instancePath:instancePath+"/recipient",schemaPath:"compute-request.schema.json#/$defs/Recipient/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema7,data:data1}];
return false;
}
}
else {
validate0.errors = [{instancePath:instancePath+"/recipient",schemaPath:"compute-request.schema.json#/$defs/Recipient/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema7.type,parentSchema:schema7,data:data1}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.attest !== undefined){
let data2 = data.attest;
const _errs7 = errors;
if(typeof data2 !== "string"){
validate0.errors = [{instancePath:instancePath+"/attest",schemaPath:"#/$defs/Attest/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema76.type,parentSchema:schema76,data:data2}];
return false;
}
if(!(((data2 === "each") || (data2 === "merkle")) || (data2 === "none"))){
validate0.errors = [{instancePath:instancePath+"/attest",schemaPath:"#/$defs/Attest/enum",keyword:"enum",params:{allowedValues: schema76.enum},message:"must be equal to one of the allowed values",schema:schema76.enum,parentSchema:schema76,data:data2}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.sequence !== undefined){
let data3 = data.sequence;
const _errs10 = errors;
if(typeof data3 !== "string"){
validate0.errors = [{instancePath:instancePath+"/sequence",schemaPath:"#/$defs/Sequence/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema77.type,parentSchema:schema77,data:data3}];
return false;
}
if(!((data3 === "same") || (data3 === "consecutive"))){
validate0.errors = [{instancePath:instancePath+"/sequence",schemaPath:"#/$defs/Sequence/enum",keyword:"enum",params:{allowedValues: schema77.enum},message:"must be equal to one of the allowed values",schema:schema77.enum,parentSchema:schema77,data:data3}];
return false;
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.geometries !== undefined){
let data4 = data.geometries;
const _errs13 = errors;
if(errors === _errs13){
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
if(Object.keys(data4).length > 64){
validate0.errors = [{instancePath:instancePath+"/geometries",schemaPath:"#/properties/geometries/maxProperties",keyword:"maxProperties",params:{limit: 64},message:"must NOT have more than 64 properties",schema:64,parentSchema:schema0.properties.geometries,data:data4}];
return false;
}
else {
for(const key0 in data4){
const _errs15 = errors;
var valid5 = _errs15 === errors;
if(!valid5){
const err0 = {instancePath:instancePath+"/geometries",schemaPath:"#/properties/geometries/propertyNames",keyword:"propertyNames",params:{propertyName: key0},message:"property name must be valid",schema:schema0.properties.geometries.propertyNames,parentSchema:schema0.properties.geometries,data:data4};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
validate0.errors = vErrors;
return false;
break;
}
}
if(valid5){
for(const key1 in data4){
const _errs17 = errors;
var valid7 = _errs17 === errors;
if(!valid7){
break;
}
}
}
}
}
else {
validate0.errors = [{instancePath:instancePath+"/geometries",schemaPath:"#/properties/geometries/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema0.properties.geometries.type,parentSchema:schema0.properties.geometries,data:data4}];
return false;
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.options !== undefined){
let data6 = data.options;
const _errs18 = errors;
const _errs19 = errors;
if(errors === _errs19){
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.submitOnchain !== undefined){
let data7 = data6.submitOnchain;
if(typeof data7 !== "boolean"){
validate0.errors = [{instancePath:instancePath+"/options/submitOnchain",schemaPath:"#/$defs/BatchDelivery/properties/submitOnchain/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema80.properties.submitOnchain.type,parentSchema:schema80.properties.submitOnchain,data:data7}];
return false;
}
}
}
else {
validate0.errors = [{instancePath:instancePath+"/options",schemaPath:"#/$defs/BatchDelivery/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema80.type,parentSchema:schema80,data:data6}];
return false;
}
}
var valid0 = _errs18 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.items !== undefined){
let data8 = data.items;
const _errs23 = errors;
if(errors === _errs23){
if(Array.isArray(data8)){
var valid11 = true;
const len0 = data8.length;
for(let i0=0; i0<len0; i0++){
const _errs25 = errors;
if(!(validate29(data8[i0], {instancePath:instancePath+"/items/" + i0,parentData:data8,parentDataProperty:i0,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate29.errors : vErrors.concat(validate29.errors);
errors = vErrors.length;
}
var valid11 = _errs25 === errors;
if(!valid11){
break;
}
}
}
else {
validate0.errors = [{instancePath:instancePath+"/items",schemaPath:"#/properties/items/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema0.properties.items.type,parentSchema:schema0.properties.items,data:data8}];
return false;
}
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
else {
validate0.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema0.type,parentSchema:schema0,data}];
return false;
}
}
validate0.errors = vErrors;
return errors === 0;
}
validate0.evaluated = {"props":{"chainId":true,"recipient":true,"attest":true,"sequence":true,"geometries":true,"options":true,"items":true},"dynamicProps":false,"dynamicItems":false};

const check1 = validate31;
const schema85 = {"title":"BatchOptions","description":"Query of POST /compute/v0/batch and of POST /compute/v0/jobs with a body of application/x-ndjson. Each parameter may appear once; other parameters are rejected.","type":"object","properties":{"chainId":{"$ref":"compute-request.schema.json#/$defs/ChainId"},"recipient":{"$ref":"compute-request.schema.json#/$defs/Recipient"},"attest":{"$ref":"#/$defs/Attest"},"sequence":{"$ref":"#/$defs/Sequence"},"submitOnchain":{"description":"Only for a job: true has the service submit the results to the chain, as options.submitOnchain of a JSON batch.","type":"boolean"}}};

function validate31(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate31.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.chainId !== undefined){
let data0 = data.chainId;
const _errs1 = errors;
const _errs2 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate31.errors = [{instancePath:instancePath+"/chainId",schemaPath:"compute-request.schema.json#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data0}];
return false;
}
if(errors === _errs2){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate31.errors = [{instancePath:instancePath+"/chainId",schemaPath:"compute-request.schema.json#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data0}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate31.errors = [{instancePath:instancePath+"/chainId",schemaPath:"compute-request.schema.json#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data0}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.recipient !== undefined){
let data1 = data.recipient;
const _errs4 = errors;
const _errs5 = errors;
if(errors === _errs5){
if(typeof data1 === "string"){
if(!pattern1.test(data1)){
validate31.errors = [{instancePath:instancePath+"/recipient",schemaPath:"compute-request.schema.json#/$defs/Recipient/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema7,data:data1}];
return false;
}
}
else {
validate31.errors = [{instancePath:instancePath+"/recipient",schemaPath:"compute-request.schema.json#/$defs/Recipient/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema7.type,parentSchema:schema7,data:data1}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.attest !== undefined){
let data2 = data.attest;
const _errs7 = errors;
if(typeof data2 !== "string"){
validate31.errors = [{instancePath:instancePath+"/attest",schemaPath:"#/$defs/Attest/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema76.type,parentSchema:schema76,data:data2}];
return false;
}
if(!(((data2 === "each") || (data2 === "merkle")) || (data2 === "none"))){
validate31.errors = [{instancePath:instancePath+"/attest",schemaPath:"#/$defs/Attest/enum",keyword:"enum",params:{allowedValues: schema76.enum},message:"must be equal to one of the allowed values",schema:schema76.enum,parentSchema:schema76,data:data2}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.sequence !== undefined){
let data3 = data.sequence;
const _errs10 = errors;
if(typeof data3 !== "string"){
validate31.errors = [{instancePath:instancePath+"/sequence",schemaPath:"#/$defs/Sequence/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema77.type,parentSchema:schema77,data:data3}];
return false;
}
if(!((data3 === "same") || (data3 === "consecutive"))){
validate31.errors = [{instancePath:instancePath+"/sequence",schemaPath:"#/$defs/Sequence/enum",keyword:"enum",params:{allowedValues: schema77.enum},message:"must be equal to one of the allowed values",schema:schema77.enum,parentSchema:schema77,data:data3}];
return false;
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.submitOnchain !== undefined){
let data4 = data.submitOnchain;
const _errs13 = errors;
if(typeof data4 !== "boolean"){
validate31.errors = [{instancePath:instancePath+"/submitOnchain",schemaPath:"#/properties/submitOnchain/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema85.properties.submitOnchain.type,parentSchema:schema85.properties.submitOnchain,data:data4}];
return false;
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate31.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema85.type,parentSchema:schema85,data}];
return false;
}
}
validate31.errors = vErrors;
return errors === 0;
}
validate31.evaluated = {"props":{"chainId":true,"recipient":true,"attest":true,"sequence":true,"submitOnchain":true},"dynamicProps":false,"dynamicItems":false};

const check2 = validate32;

function validate32(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate32.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.op === undefined) && (missing0 = "op")){
validate32.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema81.required,parentSchema:schema81,data}];
return false;
}
else {
if(data.op !== undefined){
let data0 = data.op;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate32.errors = [{instancePath:instancePath+"/op",schemaPath:"#/properties/op/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema81.properties.op.type,parentSchema:schema81.properties.op,data:data0}];
return false;
}
if(!(((((((((((((((((((data0 === "distance") || (data0 === "area")) || (data0 === "length")) || (data0 === "contains")) || (data0 === "within")) || (data0 === "intersects")) || (data0 === "relate")) || (data0 === "equals")) || (data0 === "disjoint")) || (data0 === "touches")) || (data0 === "crosses")) || (data0 === "overlaps")) || (data0 === "covers")) || (data0 === "coveredBy")) || (data0 === "direct")) || (data0 === "waypoints")) || (data0 === "nearest")) || (data0 === "buffer")) || (data0 === "repair"))){
validate32.errors = [{instancePath:instancePath+"/op",schemaPath:"#/properties/op/enum",keyword:"enum",params:{allowedValues: schema81.properties.op.enum},message:"must be equal to one of the allowed values",schema:schema81.properties.op.enum,parentSchema:schema81.properties.op,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.id !== undefined){
let data1 = data.id;
const _errs3 = errors;
if((typeof data1 !== "string") && (!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1))))){
validate32.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: schema81.properties.id.type},message:"must be string,integer",schema:schema81.properties.id.type,parentSchema:schema81.properties.id,data:data1}];
return false;
}
if(errors === _errs3){
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 9007199254740991 || isNaN(data1)){
validate32.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema81.properties.id,data:data1}];
return false;
}
else {
if(data1 < -9007199254740991 || isNaN(data1)){
validate32.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/minimum",keyword:"minimum",params:{comparison: ">=", limit: -9007199254740991},message:"must be >= -9007199254740991",schema:-9007199254740991,parentSchema:schema81.properties.id,data:data1}];
return false;
}
}
}
if(errors === _errs3){
if(typeof data1 === "string"){
if(func0(data1) > 128){
validate32.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters",schema:128,parentSchema:schema81.properties.id,data:data1}];
return false;
}
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.chainId !== undefined){
let data2 = data.chainId;
const _errs5 = errors;
const _errs6 = errors;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
validate32.errors = [{instancePath:instancePath+"/chainId",schemaPath:"compute-request.schema.json#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data2}];
return false;
}
if(errors === _errs6){
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 9007199254740991 || isNaN(data2)){
validate32.errors = [{instancePath:instancePath+"/chainId",schemaPath:"compute-request.schema.json#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data2}];
return false;
}
else {
if(data2 < 1 || isNaN(data2)){
validate32.errors = [{instancePath:instancePath+"/chainId",schemaPath:"compute-request.schema.json#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data2}];
return false;
}
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.schema !== undefined){
let data3 = data.schema;
const _errs8 = errors;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data3 === "string"){
if(!pattern0.test(data3)){
validate32.errors = [{instancePath:instancePath+"/schema",schemaPath:"compute-request.schema.json#/$defs/SchemaUid/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema6,data:data3}];
return false;
}
}
else {
validate32.errors = [{instancePath:instancePath+"/schema",schemaPath:"compute-request.schema.json#/$defs/SchemaUid/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema6.type,parentSchema:schema6,data:data3}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.recipient !== undefined){
let data4 = data.recipient;
const _errs11 = errors;
const _errs12 = errors;
if(errors === _errs12){
if(typeof data4 === "string"){
if(!pattern1.test(data4)){
validate32.errors = [{instancePath:instancePath+"/recipient",schemaPath:"compute-request.schema.json#/$defs/Recipient/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema7,data:data4}];
return false;
}
}
else {
validate32.errors = [{instancePath:instancePath+"/recipient",schemaPath:"compute-request.schema.json#/$defs/Recipient/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema7.type,parentSchema:schema7,data:data4}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate32.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema81.type,parentSchema:schema81,data}];
return false;
}
}
validate32.errors = vErrors;
return errors === 0;
}
validate32.evaluated = {"props":{"op":true,"id":true,"chainId":true,"schema":true,"recipient":true},"dynamicProps":false,"dynamicItems":false};

const check3 = validate33;
const schema2 = {"title":"DistanceRequest","type":"object","required":["chainId","from","to"],"properties":{"chainId":{"$ref":"#/$defs/ChainId"},"from":{"$ref":"input.schema.json"},"to":{"$ref":"input.schema.json"},"schema":{"$ref":"#/$defs/SchemaUid"},"recipient":{"$ref":"#/$defs/Recipient"},"options":{"$ref":"#/$defs/ComputeOptions"}}};
const schema4 = {"$id":"input.schema.json","$defs":{"InputOrEmpty":{},"InputName":{},"InputWithName":{}}};
const schema8 = {"title":"ComputeOptions","description":"How the result is delivered. Unknown members are ignored, except those that resemble an option: these are rejected.","type":"object","properties":{"submitOnchain":{"description":"true: the service submits the result to the chain itself. This needs an API key.","type":"boolean"}}};

function validate33(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate33.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.chainId === undefined) && (missing0 = "chainId")) || ((data.from === undefined) && (missing0 = "from"))) || ((data.to === undefined) && (missing0 = "to"))){
validate33.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema2.required,parentSchema:schema2,data}];
return false;
}
else {
if(data.chainId !== undefined){
let data0 = data.chainId;
const _errs1 = errors;
const _errs2 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate33.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data0}];
return false;
}
if(errors === _errs2){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate33.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data0}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate33.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data0}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.from !== undefined){
const _errs4 = errors;
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.to !== undefined){
const _errs5 = errors;
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.schema !== undefined){
let data3 = data.schema;
const _errs6 = errors;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data3 === "string"){
if(!pattern0.test(data3)){
validate33.errors = [{instancePath:instancePath+"/schema",schemaPath:"#/$defs/SchemaUid/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema6,data:data3}];
return false;
}
}
else {
validate33.errors = [{instancePath:instancePath+"/schema",schemaPath:"#/$defs/SchemaUid/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema6.type,parentSchema:schema6,data:data3}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.recipient !== undefined){
let data4 = data.recipient;
const _errs9 = errors;
const _errs10 = errors;
if(errors === _errs10){
if(typeof data4 === "string"){
if(!pattern1.test(data4)){
validate33.errors = [{instancePath:instancePath+"/recipient",schemaPath:"#/$defs/Recipient/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema7,data:data4}];
return false;
}
}
else {
validate33.errors = [{instancePath:instancePath+"/recipient",schemaPath:"#/$defs/Recipient/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema7.type,parentSchema:schema7,data:data4}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.options !== undefined){
let data5 = data.options;
const _errs12 = errors;
const _errs13 = errors;
if(errors === _errs13){
if(data5 && typeof data5 == "object" && !Array.isArray(data5)){
if(data5.submitOnchain !== undefined){
let data6 = data5.submitOnchain;
if(typeof data6 !== "boolean"){
validate33.errors = [{instancePath:instancePath+"/options/submitOnchain",schemaPath:"#/$defs/ComputeOptions/properties/submitOnchain/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema8.properties.submitOnchain.type,parentSchema:schema8.properties.submitOnchain,data:data6}];
return false;
}
}
}
else {
validate33.errors = [{instancePath:instancePath+"/options",schemaPath:"#/$defs/ComputeOptions/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema8.type,parentSchema:schema8,data:data5}];
return false;
}
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate33.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema2.type,parentSchema:schema2,data}];
return false;
}
}
validate33.errors = vErrors;
return errors === 0;
}
validate33.evaluated = {"props":{"chainId":true,"from":true,"to":true,"schema":true,"recipient":true,"options":true},"dynamicProps":false,"dynamicItems":false};

const check4 = validate34;
const schema9 = {"title":"AreaRequest","type":"object","required":["chainId","geometry"],"properties":{"chainId":{"$ref":"#/$defs/ChainId"},"geometry":{"$ref":"input.schema.json"},"schema":{"$ref":"#/$defs/SchemaUid"},"recipient":{"$ref":"#/$defs/Recipient"},"options":{"$ref":"#/$defs/ComputeOptions"}}};

function validate34(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate34.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.chainId === undefined) && (missing0 = "chainId")) || ((data.geometry === undefined) && (missing0 = "geometry"))){
validate34.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema9.required,parentSchema:schema9,data}];
return false;
}
else {
if(data.chainId !== undefined){
let data0 = data.chainId;
const _errs1 = errors;
const _errs2 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate34.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data0}];
return false;
}
if(errors === _errs2){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate34.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data0}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate34.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data0}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.geometry !== undefined){
const _errs4 = errors;
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.schema !== undefined){
let data2 = data.schema;
const _errs5 = errors;
const _errs6 = errors;
if(errors === _errs6){
if(typeof data2 === "string"){
if(!pattern0.test(data2)){
validate34.errors = [{instancePath:instancePath+"/schema",schemaPath:"#/$defs/SchemaUid/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema6,data:data2}];
return false;
}
}
else {
validate34.errors = [{instancePath:instancePath+"/schema",schemaPath:"#/$defs/SchemaUid/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema6.type,parentSchema:schema6,data:data2}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.recipient !== undefined){
let data3 = data.recipient;
const _errs8 = errors;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data3 === "string"){
if(!pattern1.test(data3)){
validate34.errors = [{instancePath:instancePath+"/recipient",schemaPath:"#/$defs/Recipient/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema7,data:data3}];
return false;
}
}
else {
validate34.errors = [{instancePath:instancePath+"/recipient",schemaPath:"#/$defs/Recipient/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema7.type,parentSchema:schema7,data:data3}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.options !== undefined){
let data4 = data.options;
const _errs11 = errors;
const _errs12 = errors;
if(errors === _errs12){
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
if(data4.submitOnchain !== undefined){
let data5 = data4.submitOnchain;
if(typeof data5 !== "boolean"){
validate34.errors = [{instancePath:instancePath+"/options/submitOnchain",schemaPath:"#/$defs/ComputeOptions/properties/submitOnchain/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema8.properties.submitOnchain.type,parentSchema:schema8.properties.submitOnchain,data:data5}];
return false;
}
}
}
else {
validate34.errors = [{instancePath:instancePath+"/options",schemaPath:"#/$defs/ComputeOptions/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema8.type,parentSchema:schema8,data:data4}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate34.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema9.type,parentSchema:schema9,data}];
return false;
}
}
validate34.errors = vErrors;
return errors === 0;
}
validate34.evaluated = {"props":{"chainId":true,"geometry":true,"schema":true,"recipient":true,"options":true},"dynamicProps":false,"dynamicItems":false};

const check5 = validate35;
const schema15 = {"title":"LengthRequest","type":"object","required":["chainId","geometry"],"properties":{"chainId":{"$ref":"#/$defs/ChainId"},"geometry":{"$ref":"input.schema.json"},"schema":{"$ref":"#/$defs/SchemaUid"},"recipient":{"$ref":"#/$defs/Recipient"},"options":{"$ref":"#/$defs/ComputeOptions"}}};

function validate35(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate35.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.chainId === undefined) && (missing0 = "chainId")) || ((data.geometry === undefined) && (missing0 = "geometry"))){
validate35.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema15.required,parentSchema:schema15,data}];
return false;
}
else {
if(data.chainId !== undefined){
let data0 = data.chainId;
const _errs1 = errors;
const _errs2 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate35.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data0}];
return false;
}
if(errors === _errs2){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate35.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data0}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate35.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data0}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.geometry !== undefined){
const _errs4 = errors;
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.schema !== undefined){
let data2 = data.schema;
const _errs5 = errors;
const _errs6 = errors;
if(errors === _errs6){
if(typeof data2 === "string"){
if(!pattern0.test(data2)){
validate35.errors = [{instancePath:instancePath+"/schema",schemaPath:"#/$defs/SchemaUid/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema6,data:data2}];
return false;
}
}
else {
validate35.errors = [{instancePath:instancePath+"/schema",schemaPath:"#/$defs/SchemaUid/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema6.type,parentSchema:schema6,data:data2}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.recipient !== undefined){
let data3 = data.recipient;
const _errs8 = errors;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data3 === "string"){
if(!pattern1.test(data3)){
validate35.errors = [{instancePath:instancePath+"/recipient",schemaPath:"#/$defs/Recipient/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema7,data:data3}];
return false;
}
}
else {
validate35.errors = [{instancePath:instancePath+"/recipient",schemaPath:"#/$defs/Recipient/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema7.type,parentSchema:schema7,data:data3}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.options !== undefined){
let data4 = data.options;
const _errs11 = errors;
const _errs12 = errors;
if(errors === _errs12){
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
if(data4.submitOnchain !== undefined){
let data5 = data4.submitOnchain;
if(typeof data5 !== "boolean"){
validate35.errors = [{instancePath:instancePath+"/options/submitOnchain",schemaPath:"#/$defs/ComputeOptions/properties/submitOnchain/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema8.properties.submitOnchain.type,parentSchema:schema8.properties.submitOnchain,data:data5}];
return false;
}
}
}
else {
validate35.errors = [{instancePath:instancePath+"/options",schemaPath:"#/$defs/ComputeOptions/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema8.type,parentSchema:schema8,data:data4}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate35.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema15.type,parentSchema:schema15,data}];
return false;
}
}
validate35.errors = vErrors;
return errors === 0;
}
validate35.evaluated = {"props":{"chainId":true,"geometry":true,"schema":true,"recipient":true,"options":true},"dynamicProps":false,"dynamicItems":false};

const check6 = validate36;
const schema21 = {"title":"ContainsRequest","description":"Deprecated names of the two inputs are also accepted: geometryA and geometryB, geometry1 and geometry2, container and geometry.","type":"object","required":["chainId","container","containee"],"properties":{"chainId":{"$ref":"#/$defs/ChainId"},"container":{"$ref":"input.schema.json"},"containee":{"$ref":"input.schema.json"},"edges":{"description":"Default: straight in longitude and latitude.","enum":["geodesic"]},"schema":{"$ref":"#/$defs/SchemaUid"},"recipient":{"$ref":"#/$defs/Recipient"},"options":{"$ref":"#/$defs/ComputeOptions"}}};

function validate36(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate36.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.chainId === undefined) && (missing0 = "chainId")) || ((data.container === undefined) && (missing0 = "container"))) || ((data.containee === undefined) && (missing0 = "containee"))){
validate36.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema21.required,parentSchema:schema21,data}];
return false;
}
else {
if(data.chainId !== undefined){
let data0 = data.chainId;
const _errs1 = errors;
const _errs2 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate36.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data0}];
return false;
}
if(errors === _errs2){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate36.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data0}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate36.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data0}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.container !== undefined){
const _errs4 = errors;
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.containee !== undefined){
const _errs5 = errors;
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.edges !== undefined){
let data3 = data.edges;
const _errs6 = errors;
if(!(data3 === "geodesic")){
validate36.errors = [{instancePath:instancePath+"/edges",schemaPath:"#/properties/edges/enum",keyword:"enum",params:{allowedValues: schema21.properties.edges.enum},message:"must be equal to one of the allowed values",schema:schema21.properties.edges.enum,parentSchema:schema21.properties.edges,data:data3}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.schema !== undefined){
let data4 = data.schema;
const _errs7 = errors;
const _errs8 = errors;
if(errors === _errs8){
if(typeof data4 === "string"){
if(!pattern0.test(data4)){
validate36.errors = [{instancePath:instancePath+"/schema",schemaPath:"#/$defs/SchemaUid/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema6,data:data4}];
return false;
}
}
else {
validate36.errors = [{instancePath:instancePath+"/schema",schemaPath:"#/$defs/SchemaUid/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema6.type,parentSchema:schema6,data:data4}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.recipient !== undefined){
let data5 = data.recipient;
const _errs10 = errors;
const _errs11 = errors;
if(errors === _errs11){
if(typeof data5 === "string"){
if(!pattern1.test(data5)){
validate36.errors = [{instancePath:instancePath+"/recipient",schemaPath:"#/$defs/Recipient/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema7,data:data5}];
return false;
}
}
else {
validate36.errors = [{instancePath:instancePath+"/recipient",schemaPath:"#/$defs/Recipient/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema7.type,parentSchema:schema7,data:data5}];
return false;
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.options !== undefined){
let data6 = data.options;
const _errs13 = errors;
const _errs14 = errors;
if(errors === _errs14){
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.submitOnchain !== undefined){
let data7 = data6.submitOnchain;
if(typeof data7 !== "boolean"){
validate36.errors = [{instancePath:instancePath+"/options/submitOnchain",schemaPath:"#/$defs/ComputeOptions/properties/submitOnchain/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema8.properties.submitOnchain.type,parentSchema:schema8.properties.submitOnchain,data:data7}];
return false;
}
}
}
else {
validate36.errors = [{instancePath:instancePath+"/options",schemaPath:"#/$defs/ComputeOptions/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema8.type,parentSchema:schema8,data:data6}];
return false;
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
else {
validate36.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema21.type,parentSchema:schema21,data}];
return false;
}
}
validate36.errors = vErrors;
return errors === 0;
}
validate36.evaluated = {"props":{"chainId":true,"container":true,"containee":true,"edges":true,"schema":true,"recipient":true,"options":true},"dynamicProps":false,"dynamicItems":false};

const check7 = validate37;
const schema28 = {"title":"WithinRequest","type":"object","required":["chainId","geometry","target","radius"],"properties":{"chainId":{"$ref":"#/$defs/ChainId"},"geometry":{"$ref":"input.schema.json"},"target":{"$ref":"input.schema.json"},"radius":{"description":"Metres.","type":"number","exclusiveMinimum":0,"maximum":20037508},"schema":{"$ref":"#/$defs/SchemaUid"},"recipient":{"$ref":"#/$defs/Recipient"},"options":{"$ref":"#/$defs/ComputeOptions"}}};

function validate37(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate37.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.chainId === undefined) && (missing0 = "chainId")) || ((data.geometry === undefined) && (missing0 = "geometry"))) || ((data.target === undefined) && (missing0 = "target"))) || ((data.radius === undefined) && (missing0 = "radius"))){
validate37.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema28.required,parentSchema:schema28,data}];
return false;
}
else {
if(data.chainId !== undefined){
let data0 = data.chainId;
const _errs1 = errors;
const _errs2 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate37.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data0}];
return false;
}
if(errors === _errs2){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate37.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data0}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate37.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data0}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.geometry !== undefined){
const _errs4 = errors;
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.target !== undefined){
const _errs5 = errors;
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.radius !== undefined){
let data3 = data.radius;
const _errs6 = errors;
if(errors === _errs6){
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 20037508 || isNaN(data3)){
validate37.errors = [{instancePath:instancePath+"/radius",schemaPath:"#/properties/radius/maximum",keyword:"maximum",params:{comparison: "<=", limit: 20037508},message:"must be <= 20037508",schema:20037508,parentSchema:schema28.properties.radius,data:data3}];
return false;
}
else {
if(data3 <= 0 || isNaN(data3)){
validate37.errors = [{instancePath:instancePath+"/radius",schemaPath:"#/properties/radius/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0",schema:0,parentSchema:schema28.properties.radius,data:data3}];
return false;
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/radius",schemaPath:"#/properties/radius/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema28.properties.radius.type,parentSchema:schema28.properties.radius,data:data3}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.schema !== undefined){
let data4 = data.schema;
const _errs8 = errors;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data4 === "string"){
if(!pattern0.test(data4)){
validate37.errors = [{instancePath:instancePath+"/schema",schemaPath:"#/$defs/SchemaUid/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema6,data:data4}];
return false;
}
}
else {
validate37.errors = [{instancePath:instancePath+"/schema",schemaPath:"#/$defs/SchemaUid/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema6.type,parentSchema:schema6,data:data4}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.recipient !== undefined){
let data5 = data.recipient;
const _errs11 = errors;
const _errs12 = errors;
if(errors === _errs12){
if(typeof data5 === "string"){
if(!pattern1.test(data5)){
validate37.errors = [{instancePath:instancePath+"/recipient",schemaPath:"#/$defs/Recipient/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema7,data:data5}];
return false;
}
}
else {
validate37.errors = [{instancePath:instancePath+"/recipient",schemaPath:"#/$defs/Recipient/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema7.type,parentSchema:schema7,data:data5}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.options !== undefined){
let data6 = data.options;
const _errs14 = errors;
const _errs15 = errors;
if(errors === _errs15){
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.submitOnchain !== undefined){
let data7 = data6.submitOnchain;
if(typeof data7 !== "boolean"){
validate37.errors = [{instancePath:instancePath+"/options/submitOnchain",schemaPath:"#/$defs/ComputeOptions/properties/submitOnchain/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema8.properties.submitOnchain.type,parentSchema:schema8.properties.submitOnchain,data:data7}];
return false;
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/options",schemaPath:"#/$defs/ComputeOptions/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema8.type,parentSchema:schema8,data:data6}];
return false;
}
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
else {
validate37.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema28.type,parentSchema:schema28,data}];
return false;
}
}
validate37.errors = vErrors;
return errors === 0;
}
validate37.evaluated = {"props":{"chainId":true,"geometry":true,"target":true,"radius":true,"schema":true,"recipient":true,"options":true},"dynamicProps":false,"dynamicItems":false};

const check8 = validate38;
const schema35 = {"title":"IntersectsRequest","type":"object","required":["chainId","geometry1","geometry2"],"properties":{"chainId":{"$ref":"#/$defs/ChainId"},"geometry1":{"$ref":"input.schema.json"},"geometry2":{"$ref":"input.schema.json"},"edges":{"description":"Default: straight in longitude and latitude.","enum":["geodesic"]},"schema":{"$ref":"#/$defs/SchemaUid"},"recipient":{"$ref":"#/$defs/Recipient"},"options":{"$ref":"#/$defs/ComputeOptions"}}};

function validate38(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate38.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.chainId === undefined) && (missing0 = "chainId")) || ((data.geometry1 === undefined) && (missing0 = "geometry1"))) || ((data.geometry2 === undefined) && (missing0 = "geometry2"))){
validate38.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema35.required,parentSchema:schema35,data}];
return false;
}
else {
if(data.chainId !== undefined){
let data0 = data.chainId;
const _errs1 = errors;
const _errs2 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate38.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data0}];
return false;
}
if(errors === _errs2){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate38.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data0}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate38.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data0}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.geometry1 !== undefined){
const _errs4 = errors;
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.geometry2 !== undefined){
const _errs5 = errors;
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.edges !== undefined){
let data3 = data.edges;
const _errs6 = errors;
if(!(data3 === "geodesic")){
validate38.errors = [{instancePath:instancePath+"/edges",schemaPath:"#/properties/edges/enum",keyword:"enum",params:{allowedValues: schema35.properties.edges.enum},message:"must be equal to one of the allowed values",schema:schema35.properties.edges.enum,parentSchema:schema35.properties.edges,data:data3}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.schema !== undefined){
let data4 = data.schema;
const _errs7 = errors;
const _errs8 = errors;
if(errors === _errs8){
if(typeof data4 === "string"){
if(!pattern0.test(data4)){
validate38.errors = [{instancePath:instancePath+"/schema",schemaPath:"#/$defs/SchemaUid/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema6,data:data4}];
return false;
}
}
else {
validate38.errors = [{instancePath:instancePath+"/schema",schemaPath:"#/$defs/SchemaUid/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema6.type,parentSchema:schema6,data:data4}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.recipient !== undefined){
let data5 = data.recipient;
const _errs10 = errors;
const _errs11 = errors;
if(errors === _errs11){
if(typeof data5 === "string"){
if(!pattern1.test(data5)){
validate38.errors = [{instancePath:instancePath+"/recipient",schemaPath:"#/$defs/Recipient/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema7,data:data5}];
return false;
}
}
else {
validate38.errors = [{instancePath:instancePath+"/recipient",schemaPath:"#/$defs/Recipient/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema7.type,parentSchema:schema7,data:data5}];
return false;
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.options !== undefined){
let data6 = data.options;
const _errs13 = errors;
const _errs14 = errors;
if(errors === _errs14){
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.submitOnchain !== undefined){
let data7 = data6.submitOnchain;
if(typeof data7 !== "boolean"){
validate38.errors = [{instancePath:instancePath+"/options/submitOnchain",schemaPath:"#/$defs/ComputeOptions/properties/submitOnchain/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema8.properties.submitOnchain.type,parentSchema:schema8.properties.submitOnchain,data:data7}];
return false;
}
}
}
else {
validate38.errors = [{instancePath:instancePath+"/options",schemaPath:"#/$defs/ComputeOptions/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema8.type,parentSchema:schema8,data:data6}];
return false;
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
else {
validate38.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema35.type,parentSchema:schema35,data}];
return false;
}
}
validate38.errors = vErrors;
return errors === 0;
}
validate38.evaluated = {"props":{"chainId":true,"geometry1":true,"geometry2":true,"edges":true,"schema":true,"recipient":true,"options":true},"dynamicProps":false,"dynamicItems":false};

const check9 = validate39;
const schema42 = {"title":"PredicateRequest","description":"Body of equals, disjoint, touches, crosses, overlaps, covers and coveredBy.","type":"object","required":["chainId","geometry1","geometry2"],"properties":{"chainId":{"$ref":"#/$defs/ChainId"},"geometry1":{"$ref":"input.schema.json#/$defs/InputOrEmpty"},"geometry2":{"$ref":"input.schema.json#/$defs/InputOrEmpty"},"schema":{"$ref":"#/$defs/SchemaUid"},"recipient":{"$ref":"#/$defs/Recipient"},"options":{"$ref":"#/$defs/ComputeOptions"}}};
const schema45 = {};

function validate39(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate39.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.chainId === undefined) && (missing0 = "chainId")) || ((data.geometry1 === undefined) && (missing0 = "geometry1"))) || ((data.geometry2 === undefined) && (missing0 = "geometry2"))){
validate39.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema42.required,parentSchema:schema42,data}];
return false;
}
else {
if(data.chainId !== undefined){
let data0 = data.chainId;
const _errs1 = errors;
const _errs2 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate39.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data0}];
return false;
}
if(errors === _errs2){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate39.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data0}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate39.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data0}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.geometry1 !== undefined){
const _errs4 = errors;
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.geometry2 !== undefined){
const _errs5 = errors;
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.schema !== undefined){
let data3 = data.schema;
const _errs6 = errors;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data3 === "string"){
if(!pattern0.test(data3)){
validate39.errors = [{instancePath:instancePath+"/schema",schemaPath:"#/$defs/SchemaUid/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema6,data:data3}];
return false;
}
}
else {
validate39.errors = [{instancePath:instancePath+"/schema",schemaPath:"#/$defs/SchemaUid/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema6.type,parentSchema:schema6,data:data3}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.recipient !== undefined){
let data4 = data.recipient;
const _errs9 = errors;
const _errs10 = errors;
if(errors === _errs10){
if(typeof data4 === "string"){
if(!pattern1.test(data4)){
validate39.errors = [{instancePath:instancePath+"/recipient",schemaPath:"#/$defs/Recipient/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema7,data:data4}];
return false;
}
}
else {
validate39.errors = [{instancePath:instancePath+"/recipient",schemaPath:"#/$defs/Recipient/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema7.type,parentSchema:schema7,data:data4}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.options !== undefined){
let data5 = data.options;
const _errs12 = errors;
const _errs13 = errors;
if(errors === _errs13){
if(data5 && typeof data5 == "object" && !Array.isArray(data5)){
if(data5.submitOnchain !== undefined){
let data6 = data5.submitOnchain;
if(typeof data6 !== "boolean"){
validate39.errors = [{instancePath:instancePath+"/options/submitOnchain",schemaPath:"#/$defs/ComputeOptions/properties/submitOnchain/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema8.properties.submitOnchain.type,parentSchema:schema8.properties.submitOnchain,data:data6}];
return false;
}
}
}
else {
validate39.errors = [{instancePath:instancePath+"/options",schemaPath:"#/$defs/ComputeOptions/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema8.type,parentSchema:schema8,data:data5}];
return false;
}
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate39.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema42.type,parentSchema:schema42,data}];
return false;
}
}
validate39.errors = vErrors;
return errors === 0;
}
validate39.evaluated = {"props":{"chainId":true,"geometry1":true,"geometry2":true,"schema":true,"recipient":true,"options":true},"dynamicProps":false,"dynamicItems":false};

const check10 = validate40;
const schema50 = {"title":"RelateRequest","type":"object","required":["chainId","geometry1","geometry2"],"properties":{"chainId":{"$ref":"#/$defs/ChainId"},"geometry1":{"$ref":"input.schema.json#/$defs/InputOrEmpty"},"geometry2":{"$ref":"input.schema.json#/$defs/InputOrEmpty"},"pattern":{"description":"Nine characters of T, F, *, 0, 1 and 2: asks whether the matrix matches. Without it, the matrix is returned, unsigned.","type":"string","pattern":"^[TF*012]{9}$"},"schema":{"$ref":"#/$defs/SchemaUid"},"recipient":{"$ref":"#/$defs/Recipient"},"options":{"$ref":"#/$defs/ComputeOptions"}}};
const pattern14 = new RegExp("^[TF*012]{9}$", "u");

function validate40(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate40.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.chainId === undefined) && (missing0 = "chainId")) || ((data.geometry1 === undefined) && (missing0 = "geometry1"))) || ((data.geometry2 === undefined) && (missing0 = "geometry2"))){
validate40.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema50.required,parentSchema:schema50,data}];
return false;
}
else {
if(data.chainId !== undefined){
let data0 = data.chainId;
const _errs1 = errors;
const _errs2 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate40.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data0}];
return false;
}
if(errors === _errs2){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate40.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data0}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate40.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data0}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.geometry1 !== undefined){
const _errs4 = errors;
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.geometry2 !== undefined){
const _errs5 = errors;
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pattern !== undefined){
let data3 = data.pattern;
const _errs6 = errors;
if(errors === _errs6){
if(typeof data3 === "string"){
if(!pattern14.test(data3)){
validate40.errors = [{instancePath:instancePath+"/pattern",schemaPath:"#/properties/pattern/pattern",keyword:"pattern",params:{pattern: "^[TF*012]{9}$"},message:"must match pattern \""+"^[TF*012]{9}$"+"\"",schema:"^[TF*012]{9}$",parentSchema:schema50.properties.pattern,data:data3}];
return false;
}
}
else {
validate40.errors = [{instancePath:instancePath+"/pattern",schemaPath:"#/properties/pattern/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema50.properties.pattern.type,parentSchema:schema50.properties.pattern,data:data3}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.schema !== undefined){
let data4 = data.schema;
const _errs8 = errors;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data4 === "string"){
if(!pattern0.test(data4)){
validate40.errors = [{instancePath:instancePath+"/schema",schemaPath:"#/$defs/SchemaUid/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema6,data:data4}];
return false;
}
}
else {
validate40.errors = [{instancePath:instancePath+"/schema",schemaPath:"#/$defs/SchemaUid/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema6.type,parentSchema:schema6,data:data4}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.recipient !== undefined){
let data5 = data.recipient;
const _errs11 = errors;
const _errs12 = errors;
if(errors === _errs12){
if(typeof data5 === "string"){
if(!pattern1.test(data5)){
validate40.errors = [{instancePath:instancePath+"/recipient",schemaPath:"#/$defs/Recipient/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema7,data:data5}];
return false;
}
}
else {
validate40.errors = [{instancePath:instancePath+"/recipient",schemaPath:"#/$defs/Recipient/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema7.type,parentSchema:schema7,data:data5}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.options !== undefined){
let data6 = data.options;
const _errs14 = errors;
const _errs15 = errors;
if(errors === _errs15){
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.submitOnchain !== undefined){
let data7 = data6.submitOnchain;
if(typeof data7 !== "boolean"){
validate40.errors = [{instancePath:instancePath+"/options/submitOnchain",schemaPath:"#/$defs/ComputeOptions/properties/submitOnchain/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema8.properties.submitOnchain.type,parentSchema:schema8.properties.submitOnchain,data:data7}];
return false;
}
}
}
else {
validate40.errors = [{instancePath:instancePath+"/options",schemaPath:"#/$defs/ComputeOptions/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema8.type,parentSchema:schema8,data:data6}];
return false;
}
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
else {
validate40.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema50.type,parentSchema:schema50,data}];
return false;
}
}
validate40.errors = vErrors;
return errors === 0;
}
validate40.evaluated = {"props":{"chainId":true,"geometry1":true,"geometry2":true,"pattern":true,"schema":true,"recipient":true,"options":true},"dynamicProps":false,"dynamicItems":false};

const check11 = validate41;
const schema57 = {"title":"DirectRequest","type":"object","required":["chainId","from","azimuthDegrees","distanceMeters"],"properties":{"chainId":{"$ref":"#/$defs/ChainId"},"from":{"$ref":"input.schema.json"},"azimuthDegrees":{"description":"Direction at the start, degrees clockwise from north.","type":"number","minimum":-360,"maximum":360},"distanceMeters":{"type":"number","minimum":0,"maximum":20037508}}};

function validate41(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate41.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.chainId === undefined) && (missing0 = "chainId")) || ((data.from === undefined) && (missing0 = "from"))) || ((data.azimuthDegrees === undefined) && (missing0 = "azimuthDegrees"))) || ((data.distanceMeters === undefined) && (missing0 = "distanceMeters"))){
validate41.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema57.required,parentSchema:schema57,data}];
return false;
}
else {
if(data.chainId !== undefined){
let data0 = data.chainId;
const _errs1 = errors;
const _errs2 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate41.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data0}];
return false;
}
if(errors === _errs2){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate41.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data0}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate41.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data0}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.from !== undefined){
const _errs4 = errors;
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.azimuthDegrees !== undefined){
let data2 = data.azimuthDegrees;
const _errs5 = errors;
if(errors === _errs5){
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 360 || isNaN(data2)){
validate41.errors = [{instancePath:instancePath+"/azimuthDegrees",schemaPath:"#/properties/azimuthDegrees/maximum",keyword:"maximum",params:{comparison: "<=", limit: 360},message:"must be <= 360",schema:360,parentSchema:schema57.properties.azimuthDegrees,data:data2}];
return false;
}
else {
if(data2 < -360 || isNaN(data2)){
validate41.errors = [{instancePath:instancePath+"/azimuthDegrees",schemaPath:"#/properties/azimuthDegrees/minimum",keyword:"minimum",params:{comparison: ">=", limit: -360},message:"must be >= -360",schema:-360,parentSchema:schema57.properties.azimuthDegrees,data:data2}];
return false;
}
}
}
else {
validate41.errors = [{instancePath:instancePath+"/azimuthDegrees",schemaPath:"#/properties/azimuthDegrees/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema57.properties.azimuthDegrees.type,parentSchema:schema57.properties.azimuthDegrees,data:data2}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.distanceMeters !== undefined){
let data3 = data.distanceMeters;
const _errs7 = errors;
if(errors === _errs7){
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 20037508 || isNaN(data3)){
validate41.errors = [{instancePath:instancePath+"/distanceMeters",schemaPath:"#/properties/distanceMeters/maximum",keyword:"maximum",params:{comparison: "<=", limit: 20037508},message:"must be <= 20037508",schema:20037508,parentSchema:schema57.properties.distanceMeters,data:data3}];
return false;
}
else {
if(data3 < 0 || isNaN(data3)){
validate41.errors = [{instancePath:instancePath+"/distanceMeters",schemaPath:"#/properties/distanceMeters/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema57.properties.distanceMeters,data:data3}];
return false;
}
}
}
else {
validate41.errors = [{instancePath:instancePath+"/distanceMeters",schemaPath:"#/properties/distanceMeters/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema57.properties.distanceMeters.type,parentSchema:schema57.properties.distanceMeters,data:data3}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate41.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema57.type,parentSchema:schema57,data}];
return false;
}
}
validate41.errors = vErrors;
return errors === 0;
}
validate41.evaluated = {"props":{"chainId":true,"from":true,"azimuthDegrees":true,"distanceMeters":true},"dynamicProps":false,"dynamicItems":false};

const check12 = validate42;
const schema60 = {"title":"WaypointsRequest","type":"object","required":["chainId","from","to","everyMeters"],"properties":{"chainId":{"$ref":"#/$defs/ChainId"},"from":{"$ref":"input.schema.json"},"to":{"$ref":"input.schema.json"},"everyMeters":{"type":"number","exclusiveMinimum":0,"maximum":20037508}}};

function validate42(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate42.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.chainId === undefined) && (missing0 = "chainId")) || ((data.from === undefined) && (missing0 = "from"))) || ((data.to === undefined) && (missing0 = "to"))) || ((data.everyMeters === undefined) && (missing0 = "everyMeters"))){
validate42.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema60.required,parentSchema:schema60,data}];
return false;
}
else {
if(data.chainId !== undefined){
let data0 = data.chainId;
const _errs1 = errors;
const _errs2 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate42.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data0}];
return false;
}
if(errors === _errs2){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate42.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data0}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate42.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data0}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.from !== undefined){
const _errs4 = errors;
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.to !== undefined){
const _errs5 = errors;
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.everyMeters !== undefined){
let data3 = data.everyMeters;
const _errs6 = errors;
if(errors === _errs6){
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 20037508 || isNaN(data3)){
validate42.errors = [{instancePath:instancePath+"/everyMeters",schemaPath:"#/properties/everyMeters/maximum",keyword:"maximum",params:{comparison: "<=", limit: 20037508},message:"must be <= 20037508",schema:20037508,parentSchema:schema60.properties.everyMeters,data:data3}];
return false;
}
else {
if(data3 <= 0 || isNaN(data3)){
validate42.errors = [{instancePath:instancePath+"/everyMeters",schemaPath:"#/properties/everyMeters/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0",schema:0,parentSchema:schema60.properties.everyMeters,data:data3}];
return false;
}
}
}
else {
validate42.errors = [{instancePath:instancePath+"/everyMeters",schemaPath:"#/properties/everyMeters/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema60.properties.everyMeters.type,parentSchema:schema60.properties.everyMeters,data:data3}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate42.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema60.type,parentSchema:schema60,data}];
return false;
}
}
validate42.errors = vErrors;
return errors === 0;
}
validate42.evaluated = {"props":{"chainId":true,"from":true,"to":true,"everyMeters":true},"dynamicProps":false,"dynamicItems":false};

const check13 = validate43;
const schema64 = {"title":"NearestRequest","type":"object","required":["chainId","from","to"],"properties":{"chainId":{"$ref":"#/$defs/ChainId"},"from":{"$ref":"input.schema.json"},"to":{"$ref":"input.schema.json"}}};

function validate43(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate43.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.chainId === undefined) && (missing0 = "chainId")) || ((data.from === undefined) && (missing0 = "from"))) || ((data.to === undefined) && (missing0 = "to"))){
validate43.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema64.required,parentSchema:schema64,data}];
return false;
}
else {
if(data.chainId !== undefined){
let data0 = data.chainId;
const _errs1 = errors;
const _errs2 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate43.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data0}];
return false;
}
if(errors === _errs2){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate43.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data0}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate43.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data0}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.from !== undefined){
const _errs4 = errors;
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.to !== undefined){
const _errs5 = errors;
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate43.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema64.type,parentSchema:schema64,data}];
return false;
}
}
validate43.errors = vErrors;
return errors === 0;
}
validate43.evaluated = {"props":{"chainId":true,"from":true,"to":true},"dynamicProps":false,"dynamicItems":false};

const check14 = validate44;
const schema68 = {"title":"BufferRequest","type":"object","required":["chainId","geometry","radius"],"properties":{"chainId":{"$ref":"#/$defs/ChainId"},"geometry":{"$ref":"input.schema.json"},"radius":{"description":"Metres.","type":"number","minimum":0.001,"maximum":19900000},"toleranceMeters":{"description":"The most that the boundary may leave the circle. Default: 1/1000 of the radius.","type":"number","minimum":0.00001,"maximum":20037508}}};

function validate44(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate44.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.chainId === undefined) && (missing0 = "chainId")) || ((data.geometry === undefined) && (missing0 = "geometry"))) || ((data.radius === undefined) && (missing0 = "radius"))){
validate44.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema68.required,parentSchema:schema68,data}];
return false;
}
else {
if(data.chainId !== undefined){
let data0 = data.chainId;
const _errs1 = errors;
const _errs2 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate44.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data0}];
return false;
}
if(errors === _errs2){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate44.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data0}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate44.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data0}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.geometry !== undefined){
const _errs4 = errors;
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.radius !== undefined){
let data2 = data.radius;
const _errs5 = errors;
if(errors === _errs5){
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 19900000 || isNaN(data2)){
validate44.errors = [{instancePath:instancePath+"/radius",schemaPath:"#/properties/radius/maximum",keyword:"maximum",params:{comparison: "<=", limit: 19900000},message:"must be <= 19900000",schema:19900000,parentSchema:schema68.properties.radius,data:data2}];
return false;
}
else {
if(data2 < 0.001 || isNaN(data2)){
validate44.errors = [{instancePath:instancePath+"/radius",schemaPath:"#/properties/radius/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0.001},message:"must be >= 0.001",schema:0.001,parentSchema:schema68.properties.radius,data:data2}];
return false;
}
}
}
else {
validate44.errors = [{instancePath:instancePath+"/radius",schemaPath:"#/properties/radius/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema68.properties.radius.type,parentSchema:schema68.properties.radius,data:data2}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.toleranceMeters !== undefined){
let data3 = data.toleranceMeters;
const _errs7 = errors;
if(errors === _errs7){
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 20037508 || isNaN(data3)){
validate44.errors = [{instancePath:instancePath+"/toleranceMeters",schemaPath:"#/properties/toleranceMeters/maximum",keyword:"maximum",params:{comparison: "<=", limit: 20037508},message:"must be <= 20037508",schema:20037508,parentSchema:schema68.properties.toleranceMeters,data:data3}];
return false;
}
else {
if(data3 < 0.00001 || isNaN(data3)){
validate44.errors = [{instancePath:instancePath+"/toleranceMeters",schemaPath:"#/properties/toleranceMeters/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0.00001},message:"must be >= 0.00001",schema:0.00001,parentSchema:schema68.properties.toleranceMeters,data:data3}];
return false;
}
}
}
else {
validate44.errors = [{instancePath:instancePath+"/toleranceMeters",schemaPath:"#/properties/toleranceMeters/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema68.properties.toleranceMeters.type,parentSchema:schema68.properties.toleranceMeters,data:data3}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate44.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema68.type,parentSchema:schema68,data}];
return false;
}
}
validate44.errors = vErrors;
return errors === 0;
}
validate44.evaluated = {"props":{"chainId":true,"geometry":true,"radius":true,"toleranceMeters":true},"dynamicProps":false,"dynamicItems":false};

const check15 = validate45;
const schema71 = {"title":"RepairRequest","type":"object","required":["chainId","geometry"],"properties":{"chainId":{"$ref":"#/$defs/ChainId"},"geometry":{"$ref":"input.schema.json"}}};

function validate45(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate45.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.chainId === undefined) && (missing0 = "chainId")) || ((data.geometry === undefined) && (missing0 = "geometry"))){
validate45.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema71.required,parentSchema:schema71,data}];
return false;
}
else {
if(data.chainId !== undefined){
let data0 = data.chainId;
const _errs1 = errors;
const _errs2 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate45.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data0}];
return false;
}
if(errors === _errs2){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate45.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data0}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate45.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data0}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.geometry !== undefined){
const _errs4 = errors;
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate45.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema71.type,parentSchema:schema71,data}];
return false;
}
}
validate45.errors = vErrors;
return errors === 0;
}
validate45.evaluated = {"props":{"chainId":true,"geometry":true},"dynamicProps":false,"dynamicItems":false};

const check16 = validate67;
const schema166 = {"title":"Point","type":"object","required":["type","coordinates"],"properties":{"type":{"const":"Point"},"coordinates":{"$ref":"#/$defs/Position"}}};
const schema167 = {"title":"Position","type":"array","minItems":2,"maxItems":4,"prefixItems":[{"type":"number","minimum":-180,"maximum":180},{"type":"number","minimum":-90,"maximum":90}],"items":{"type":"number"},"tsType":"[longitude: number, latitude: number, ...rest: number[]]"};

function validate67(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate67.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.type === undefined) && (missing0 = "type")) || ((data.coordinates === undefined) && (missing0 = "coordinates"))){
validate67.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema166.required,parentSchema:schema166,data}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if("Point" !== data0){
validate67.errors = [{instancePath:instancePath+"/type",schemaPath:"#/properties/type/const",keyword:"const",params:{allowedValue: "Point"},message:"must be equal to constant",schema:"Point",parentSchema:schema166.properties.type,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.coordinates !== undefined){
let data1 = data.coordinates;
const _errs2 = errors;
const _errs3 = errors;
if(errors === _errs3){
if(Array.isArray(data1)){
if(data1.length > 4){
validate67.errors = [{instancePath:instancePath+"/coordinates",schemaPath:"#/$defs/Position/maxItems",keyword:"maxItems",params:{limit: 4},message:"must NOT have more than 4 items",schema:4,parentSchema:schema167,data:data1}];
return false;
}
else {
if(data1.length < 2){
validate67.errors = [{instancePath:instancePath+"/coordinates",schemaPath:"#/$defs/Position/minItems",keyword:"minItems",params:{limit: 2},message:"must NOT have fewer than 2 items",schema:2,parentSchema:schema167,data:data1}];
return false;
}
else {
const len0 = data1.length;
if(len0 > 0){
let data2 = data1[0];
const _errs5 = errors;
if(errors === _errs5){
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 180 || isNaN(data2)){
validate67.errors = [{instancePath:instancePath+"/coordinates/0",schemaPath:"#/$defs/Position/prefixItems/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 180},message:"must be <= 180",schema:180,parentSchema:schema167.prefixItems[0],data:data2}];
return false;
}
else {
if(data2 < -180 || isNaN(data2)){
validate67.errors = [{instancePath:instancePath+"/coordinates/0",schemaPath:"#/$defs/Position/prefixItems/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: -180},message:"must be >= -180",schema:-180,parentSchema:schema167.prefixItems[0],data:data2}];
return false;
}
}
}
else {
validate67.errors = [{instancePath:instancePath+"/coordinates/0",schemaPath:"#/$defs/Position/prefixItems/0/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema167.prefixItems[0].type,parentSchema:schema167.prefixItems[0],data:data2}];
return false;
}
}
var valid2 = _errs5 === errors;
}
if(valid2){
if(len0 > 1){
let data3 = data1[1];
const _errs7 = errors;
if(errors === _errs7){
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 90 || isNaN(data3)){
validate67.errors = [{instancePath:instancePath+"/coordinates/1",schemaPath:"#/$defs/Position/prefixItems/1/maximum",keyword:"maximum",params:{comparison: "<=", limit: 90},message:"must be <= 90",schema:90,parentSchema:schema167.prefixItems[1],data:data3}];
return false;
}
else {
if(data3 < -90 || isNaN(data3)){
validate67.errors = [{instancePath:instancePath+"/coordinates/1",schemaPath:"#/$defs/Position/prefixItems/1/minimum",keyword:"minimum",params:{comparison: ">=", limit: -90},message:"must be >= -90",schema:-90,parentSchema:schema167.prefixItems[1],data:data3}];
return false;
}
}
}
else {
validate67.errors = [{instancePath:instancePath+"/coordinates/1",schemaPath:"#/$defs/Position/prefixItems/1/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema167.prefixItems[1].type,parentSchema:schema167.prefixItems[1],data:data3}];
return false;
}
}
var valid2 = _errs7 === errors;
}
if(valid2){
const len1 = data1.length;
var valid3 = len1 <= 2;
if(!valid3){
for(let i0=2; i0<len1; i0++){
let data4 = data1[i0];
const _errs9 = errors;
if(!((typeof data4 == "number") && (isFinite(data4)))){
validate67.errors = [{instancePath:instancePath+"/coordinates/" + i0,schemaPath:"#/$defs/Position/items/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema167.items.type,parentSchema:schema167.items,data:data4}];
return false;
}
var valid3 = _errs9 === errors;
if(!valid3){
break;
}
}
}
}
}
}
}
}
else {
validate67.errors = [{instancePath:instancePath+"/coordinates",schemaPath:"#/$defs/Position/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema167.type,parentSchema:schema167,data:data1}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate67.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema166.type,parentSchema:schema166,data}];
return false;
}
}
validate67.errors = vErrors;
return errors === 0;
}
validate67.evaluated = {"props":{"type":true,"coordinates":true},"dynamicProps":false,"dynamicItems":false};

const check17 = validate68;
const schema168 = {"title":"MultiPoint","type":"object","required":["type","coordinates"],"properties":{"type":{"const":"MultiPoint"},"coordinates":{"type":"array","minItems":1,"items":{"$ref":"#/$defs/Position"}}}};

function validate68(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate68.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.type === undefined) && (missing0 = "type")) || ((data.coordinates === undefined) && (missing0 = "coordinates"))){
validate68.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema168.required,parentSchema:schema168,data}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if("MultiPoint" !== data0){
validate68.errors = [{instancePath:instancePath+"/type",schemaPath:"#/properties/type/const",keyword:"const",params:{allowedValue: "MultiPoint"},message:"must be equal to constant",schema:"MultiPoint",parentSchema:schema168.properties.type,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.coordinates !== undefined){
let data1 = data.coordinates;
const _errs2 = errors;
if(errors === _errs2){
if(Array.isArray(data1)){
if(data1.length < 1){
validate68.errors = [{instancePath:instancePath+"/coordinates",schemaPath:"#/properties/coordinates/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema168.properties.coordinates,data:data1}];
return false;
}
else {
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
const _errs4 = errors;
const _errs5 = errors;
if(errors === _errs5){
if(Array.isArray(data2)){
if(data2.length > 4){
validate68.errors = [{instancePath:instancePath+"/coordinates/" + i0,schemaPath:"#/$defs/Position/maxItems",keyword:"maxItems",params:{limit: 4},message:"must NOT have more than 4 items",schema:4,parentSchema:schema167,data:data2}];
return false;
}
else {
if(data2.length < 2){
validate68.errors = [{instancePath:instancePath+"/coordinates/" + i0,schemaPath:"#/$defs/Position/minItems",keyword:"minItems",params:{limit: 2},message:"must NOT have fewer than 2 items",schema:2,parentSchema:schema167,data:data2}];
return false;
}
else {
const len1 = data2.length;
if(len1 > 0){
let data3 = data2[0];
const _errs7 = errors;
if(errors === _errs7){
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 180 || isNaN(data3)){
validate68.errors = [{instancePath:instancePath+"/coordinates/" + i0+"/0",schemaPath:"#/$defs/Position/prefixItems/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 180},message:"must be <= 180",schema:180,parentSchema:schema167.prefixItems[0],data:data3}];
return false;
}
else {
if(data3 < -180 || isNaN(data3)){
validate68.errors = [{instancePath:instancePath+"/coordinates/" + i0+"/0",schemaPath:"#/$defs/Position/prefixItems/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: -180},message:"must be >= -180",schema:-180,parentSchema:schema167.prefixItems[0],data:data3}];
return false;
}
}
}
else {
validate68.errors = [{instancePath:instancePath+"/coordinates/" + i0+"/0",schemaPath:"#/$defs/Position/prefixItems/0/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema167.prefixItems[0].type,parentSchema:schema167.prefixItems[0],data:data3}];
return false;
}
}
var valid3 = _errs7 === errors;
}
if(valid3){
if(len1 > 1){
let data4 = data2[1];
const _errs9 = errors;
if(errors === _errs9){
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 90 || isNaN(data4)){
validate68.errors = [{instancePath:instancePath+"/coordinates/" + i0+"/1",schemaPath:"#/$defs/Position/prefixItems/1/maximum",keyword:"maximum",params:{comparison: "<=", limit: 90},message:"must be <= 90",schema:90,parentSchema:schema167.prefixItems[1],data:data4}];
return false;
}
else {
if(data4 < -90 || isNaN(data4)){
validate68.errors = [{instancePath:instancePath+"/coordinates/" + i0+"/1",schemaPath:"#/$defs/Position/prefixItems/1/minimum",keyword:"minimum",params:{comparison: ">=", limit: -90},message:"must be >= -90",schema:-90,parentSchema:schema167.prefixItems[1],data:data4}];
return false;
}
}
}
else {
validate68.errors = [{instancePath:instancePath+"/coordinates/" + i0+"/1",schemaPath:"#/$defs/Position/prefixItems/1/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema167.prefixItems[1].type,parentSchema:schema167.prefixItems[1],data:data4}];
return false;
}
}
var valid3 = _errs9 === errors;
}
if(valid3){
const len2 = data2.length;
var valid4 = len2 <= 2;
if(!valid4){
for(let i1=2; i1<len2; i1++){
let data5 = data2[i1];
const _errs11 = errors;
if(!((typeof data5 == "number") && (isFinite(data5)))){
validate68.errors = [{instancePath:instancePath+"/coordinates/" + i0+"/" + i1,schemaPath:"#/$defs/Position/items/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema167.items.type,parentSchema:schema167.items,data:data5}];
return false;
}
var valid4 = _errs11 === errors;
if(!valid4){
break;
}
}
}
}
}
}
}
}
else {
validate68.errors = [{instancePath:instancePath+"/coordinates/" + i0,schemaPath:"#/$defs/Position/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema167.type,parentSchema:schema167,data:data2}];
return false;
}
}
var valid1 = _errs4 === errors;
if(!valid1){
break;
}
}
}
}
else {
validate68.errors = [{instancePath:instancePath+"/coordinates",schemaPath:"#/properties/coordinates/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema168.properties.coordinates.type,parentSchema:schema168.properties.coordinates,data:data1}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate68.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema168.type,parentSchema:schema168,data}];
return false;
}
}
validate68.errors = vErrors;
return errors === 0;
}
validate68.evaluated = {"props":{"type":true,"coordinates":true},"dynamicProps":false,"dynamicItems":false};

const check18 = validate69;
const schema170 = {"title":"LineString","type":"object","required":["type","coordinates"],"properties":{"type":{"const":"LineString"},"coordinates":{"$ref":"#/$defs/Line"}}};
const schema171 = {"title":"Line","type":"array","minItems":2,"items":{"$ref":"#/$defs/Position"}};

function validate52(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate52.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(Array.isArray(data)){
if(data.length < 2){
validate52.errors = [{instancePath,schemaPath:"#/minItems",keyword:"minItems",params:{limit: 2},message:"must NOT have fewer than 2 items",schema:2,parentSchema:schema171,data}];
return false;
}
else {
var valid0 = true;
const len0 = data.length;
for(let i0=0; i0<len0; i0++){
let data0 = data[i0];
const _errs1 = errors;
const _errs2 = errors;
if(errors === _errs2){
if(Array.isArray(data0)){
if(data0.length > 4){
validate52.errors = [{instancePath:instancePath+"/" + i0,schemaPath:"#/$defs/Position/maxItems",keyword:"maxItems",params:{limit: 4},message:"must NOT have more than 4 items",schema:4,parentSchema:schema167,data:data0}];
return false;
}
else {
if(data0.length < 2){
validate52.errors = [{instancePath:instancePath+"/" + i0,schemaPath:"#/$defs/Position/minItems",keyword:"minItems",params:{limit: 2},message:"must NOT have fewer than 2 items",schema:2,parentSchema:schema167,data:data0}];
return false;
}
else {
const len1 = data0.length;
if(len1 > 0){
let data1 = data0[0];
const _errs4 = errors;
if(errors === _errs4){
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 180 || isNaN(data1)){
validate52.errors = [{instancePath:instancePath+"/" + i0+"/0",schemaPath:"#/$defs/Position/prefixItems/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 180},message:"must be <= 180",schema:180,parentSchema:schema167.prefixItems[0],data:data1}];
return false;
}
else {
if(data1 < -180 || isNaN(data1)){
validate52.errors = [{instancePath:instancePath+"/" + i0+"/0",schemaPath:"#/$defs/Position/prefixItems/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: -180},message:"must be >= -180",schema:-180,parentSchema:schema167.prefixItems[0],data:data1}];
return false;
}
}
}
else {
validate52.errors = [{instancePath:instancePath+"/" + i0+"/0",schemaPath:"#/$defs/Position/prefixItems/0/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema167.prefixItems[0].type,parentSchema:schema167.prefixItems[0],data:data1}];
return false;
}
}
var valid2 = _errs4 === errors;
}
if(valid2){
if(len1 > 1){
let data2 = data0[1];
const _errs6 = errors;
if(errors === _errs6){
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 90 || isNaN(data2)){
validate52.errors = [{instancePath:instancePath+"/" + i0+"/1",schemaPath:"#/$defs/Position/prefixItems/1/maximum",keyword:"maximum",params:{comparison: "<=", limit: 90},message:"must be <= 90",schema:90,parentSchema:schema167.prefixItems[1],data:data2}];
return false;
}
else {
if(data2 < -90 || isNaN(data2)){
validate52.errors = [{instancePath:instancePath+"/" + i0+"/1",schemaPath:"#/$defs/Position/prefixItems/1/minimum",keyword:"minimum",params:{comparison: ">=", limit: -90},message:"must be >= -90",schema:-90,parentSchema:schema167.prefixItems[1],data:data2}];
return false;
}
}
}
else {
validate52.errors = [{instancePath:instancePath+"/" + i0+"/1",schemaPath:"#/$defs/Position/prefixItems/1/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema167.prefixItems[1].type,parentSchema:schema167.prefixItems[1],data:data2}];
return false;
}
}
var valid2 = _errs6 === errors;
}
if(valid2){
const len2 = data0.length;
var valid3 = len2 <= 2;
if(!valid3){
for(let i1=2; i1<len2; i1++){
let data3 = data0[i1];
const _errs8 = errors;
if(!((typeof data3 == "number") && (isFinite(data3)))){
validate52.errors = [{instancePath:instancePath+"/" + i0+"/" + i1,schemaPath:"#/$defs/Position/items/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema167.items.type,parentSchema:schema167.items,data:data3}];
return false;
}
var valid3 = _errs8 === errors;
if(!valid3){
break;
}
}
}
}
}
}
}
}
else {
validate52.errors = [{instancePath:instancePath+"/" + i0,schemaPath:"#/$defs/Position/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema167.type,parentSchema:schema167,data:data0}];
return false;
}
}
var valid0 = _errs1 === errors;
if(!valid0){
break;
}
}
}
}
else {
validate52.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema171.type,parentSchema:schema171,data}];
return false;
}
}
validate52.errors = vErrors;
return errors === 0;
}
validate52.evaluated = {"items":true,"dynamicProps":false,"dynamicItems":false};


function validate69(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate69.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.type === undefined) && (missing0 = "type")) || ((data.coordinates === undefined) && (missing0 = "coordinates"))){
validate69.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema170.required,parentSchema:schema170,data}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if("LineString" !== data0){
validate69.errors = [{instancePath:instancePath+"/type",schemaPath:"#/properties/type/const",keyword:"const",params:{allowedValue: "LineString"},message:"must be equal to constant",schema:"LineString",parentSchema:schema170.properties.type,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.coordinates !== undefined){
const _errs2 = errors;
if(!(validate52(data.coordinates, {instancePath:instancePath+"/coordinates",parentData:data,parentDataProperty:"coordinates",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate52.errors : vErrors.concat(validate52.errors);
errors = vErrors.length;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate69.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema170.type,parentSchema:schema170,data}];
return false;
}
}
validate69.errors = vErrors;
return errors === 0;
}
validate69.evaluated = {"props":{"type":true,"coordinates":true},"dynamicProps":false,"dynamicItems":false};

const check19 = validate71;
const schema173 = {"title":"MultiLineString","type":"object","required":["type","coordinates"],"properties":{"type":{"const":"MultiLineString"},"coordinates":{"type":"array","minItems":1,"items":{"$ref":"#/$defs/Line"}}}};

function validate71(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate71.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.type === undefined) && (missing0 = "type")) || ((data.coordinates === undefined) && (missing0 = "coordinates"))){
validate71.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema173.required,parentSchema:schema173,data}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if("MultiLineString" !== data0){
validate71.errors = [{instancePath:instancePath+"/type",schemaPath:"#/properties/type/const",keyword:"const",params:{allowedValue: "MultiLineString"},message:"must be equal to constant",schema:"MultiLineString",parentSchema:schema173.properties.type,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.coordinates !== undefined){
let data1 = data.coordinates;
const _errs2 = errors;
if(errors === _errs2){
if(Array.isArray(data1)){
if(data1.length < 1){
validate71.errors = [{instancePath:instancePath+"/coordinates",schemaPath:"#/properties/coordinates/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema173.properties.coordinates,data:data1}];
return false;
}
else {
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
const _errs4 = errors;
if(!(validate52(data1[i0], {instancePath:instancePath+"/coordinates/" + i0,parentData:data1,parentDataProperty:i0,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate52.errors : vErrors.concat(validate52.errors);
errors = vErrors.length;
}
var valid1 = _errs4 === errors;
if(!valid1){
break;
}
}
}
}
else {
validate71.errors = [{instancePath:instancePath+"/coordinates",schemaPath:"#/properties/coordinates/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema173.properties.coordinates.type,parentSchema:schema173.properties.coordinates,data:data1}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate71.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema173.type,parentSchema:schema173,data}];
return false;
}
}
validate71.errors = vErrors;
return errors === 0;
}
validate71.evaluated = {"props":{"type":true,"coordinates":true},"dynamicProps":false,"dynamicItems":false};

const check20 = validate73;
const schema174 = {"title":"Polygon","type":"object","required":["type","coordinates"],"properties":{"type":{"const":"Polygon"},"coordinates":{"$ref":"#/$defs/Rings"}}};
const schema175 = {"title":"Rings","type":"array","minItems":1,"items":{"$ref":"#/$defs/Ring"}};
const schema176 = {"title":"Ring","description":"Closed: the last position equals the first.","type":"array","minItems":4,"items":{"$ref":"#/$defs/Position"}};

function validate60(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate60.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(Array.isArray(data)){
if(data.length < 4){
validate60.errors = [{instancePath,schemaPath:"#/minItems",keyword:"minItems",params:{limit: 4},message:"must NOT have fewer than 4 items",schema:4,parentSchema:schema176,data}];
return false;
}
else {
var valid0 = true;
const len0 = data.length;
for(let i0=0; i0<len0; i0++){
let data0 = data[i0];
const _errs1 = errors;
const _errs2 = errors;
if(errors === _errs2){
if(Array.isArray(data0)){
if(data0.length > 4){
validate60.errors = [{instancePath:instancePath+"/" + i0,schemaPath:"#/$defs/Position/maxItems",keyword:"maxItems",params:{limit: 4},message:"must NOT have more than 4 items",schema:4,parentSchema:schema167,data:data0}];
return false;
}
else {
if(data0.length < 2){
validate60.errors = [{instancePath:instancePath+"/" + i0,schemaPath:"#/$defs/Position/minItems",keyword:"minItems",params:{limit: 2},message:"must NOT have fewer than 2 items",schema:2,parentSchema:schema167,data:data0}];
return false;
}
else {
const len1 = data0.length;
if(len1 > 0){
let data1 = data0[0];
const _errs4 = errors;
if(errors === _errs4){
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 180 || isNaN(data1)){
validate60.errors = [{instancePath:instancePath+"/" + i0+"/0",schemaPath:"#/$defs/Position/prefixItems/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 180},message:"must be <= 180",schema:180,parentSchema:schema167.prefixItems[0],data:data1}];
return false;
}
else {
if(data1 < -180 || isNaN(data1)){
validate60.errors = [{instancePath:instancePath+"/" + i0+"/0",schemaPath:"#/$defs/Position/prefixItems/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: -180},message:"must be >= -180",schema:-180,parentSchema:schema167.prefixItems[0],data:data1}];
return false;
}
}
}
else {
validate60.errors = [{instancePath:instancePath+"/" + i0+"/0",schemaPath:"#/$defs/Position/prefixItems/0/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema167.prefixItems[0].type,parentSchema:schema167.prefixItems[0],data:data1}];
return false;
}
}
var valid2 = _errs4 === errors;
}
if(valid2){
if(len1 > 1){
let data2 = data0[1];
const _errs6 = errors;
if(errors === _errs6){
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 90 || isNaN(data2)){
validate60.errors = [{instancePath:instancePath+"/" + i0+"/1",schemaPath:"#/$defs/Position/prefixItems/1/maximum",keyword:"maximum",params:{comparison: "<=", limit: 90},message:"must be <= 90",schema:90,parentSchema:schema167.prefixItems[1],data:data2}];
return false;
}
else {
if(data2 < -90 || isNaN(data2)){
validate60.errors = [{instancePath:instancePath+"/" + i0+"/1",schemaPath:"#/$defs/Position/prefixItems/1/minimum",keyword:"minimum",params:{comparison: ">=", limit: -90},message:"must be >= -90",schema:-90,parentSchema:schema167.prefixItems[1],data:data2}];
return false;
}
}
}
else {
validate60.errors = [{instancePath:instancePath+"/" + i0+"/1",schemaPath:"#/$defs/Position/prefixItems/1/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema167.prefixItems[1].type,parentSchema:schema167.prefixItems[1],data:data2}];
return false;
}
}
var valid2 = _errs6 === errors;
}
if(valid2){
const len2 = data0.length;
var valid3 = len2 <= 2;
if(!valid3){
for(let i1=2; i1<len2; i1++){
let data3 = data0[i1];
const _errs8 = errors;
if(!((typeof data3 == "number") && (isFinite(data3)))){
validate60.errors = [{instancePath:instancePath+"/" + i0+"/" + i1,schemaPath:"#/$defs/Position/items/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema167.items.type,parentSchema:schema167.items,data:data3}];
return false;
}
var valid3 = _errs8 === errors;
if(!valid3){
break;
}
}
}
}
}
}
}
}
else {
validate60.errors = [{instancePath:instancePath+"/" + i0,schemaPath:"#/$defs/Position/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema167.type,parentSchema:schema167,data:data0}];
return false;
}
}
var valid0 = _errs1 === errors;
if(!valid0){
break;
}
}
}
}
else {
validate60.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema176.type,parentSchema:schema176,data}];
return false;
}
}
validate60.errors = vErrors;
return errors === 0;
}
validate60.evaluated = {"items":true,"dynamicProps":false,"dynamicItems":false};


function validate59(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate59.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(Array.isArray(data)){
if(data.length < 1){
validate59.errors = [{instancePath,schemaPath:"#/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema175,data}];
return false;
}
else {
var valid0 = true;
const len0 = data.length;
for(let i0=0; i0<len0; i0++){
const _errs1 = errors;
if(!(validate60(data[i0], {instancePath:instancePath+"/" + i0,parentData:data,parentDataProperty:i0,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate60.errors : vErrors.concat(validate60.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
if(!valid0){
break;
}
}
}
}
else {
validate59.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema175.type,parentSchema:schema175,data}];
return false;
}
}
validate59.errors = vErrors;
return errors === 0;
}
validate59.evaluated = {"items":true,"dynamicProps":false,"dynamicItems":false};


function validate73(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate73.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.type === undefined) && (missing0 = "type")) || ((data.coordinates === undefined) && (missing0 = "coordinates"))){
validate73.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema174.required,parentSchema:schema174,data}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if("Polygon" !== data0){
validate73.errors = [{instancePath:instancePath+"/type",schemaPath:"#/properties/type/const",keyword:"const",params:{allowedValue: "Polygon"},message:"must be equal to constant",schema:"Polygon",parentSchema:schema174.properties.type,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.coordinates !== undefined){
const _errs2 = errors;
if(!(validate59(data.coordinates, {instancePath:instancePath+"/coordinates",parentData:data,parentDataProperty:"coordinates",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate59.errors : vErrors.concat(validate59.errors);
errors = vErrors.length;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate73.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema174.type,parentSchema:schema174,data}];
return false;
}
}
validate73.errors = vErrors;
return errors === 0;
}
validate73.evaluated = {"props":{"type":true,"coordinates":true},"dynamicProps":false,"dynamicItems":false};

const check21 = validate75;
const schema178 = {"title":"MultiPolygon","type":"object","required":["type","coordinates"],"properties":{"type":{"const":"MultiPolygon"},"coordinates":{"type":"array","minItems":1,"items":{"$ref":"#/$defs/Rings"}}}};

function validate75(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate75.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.type === undefined) && (missing0 = "type")) || ((data.coordinates === undefined) && (missing0 = "coordinates"))){
validate75.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema178.required,parentSchema:schema178,data}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if("MultiPolygon" !== data0){
validate75.errors = [{instancePath:instancePath+"/type",schemaPath:"#/properties/type/const",keyword:"const",params:{allowedValue: "MultiPolygon"},message:"must be equal to constant",schema:"MultiPolygon",parentSchema:schema178.properties.type,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.coordinates !== undefined){
let data1 = data.coordinates;
const _errs2 = errors;
if(errors === _errs2){
if(Array.isArray(data1)){
if(data1.length < 1){
validate75.errors = [{instancePath:instancePath+"/coordinates",schemaPath:"#/properties/coordinates/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema178.properties.coordinates,data:data1}];
return false;
}
else {
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
const _errs4 = errors;
if(!(validate59(data1[i0], {instancePath:instancePath+"/coordinates/" + i0,parentData:data1,parentDataProperty:i0,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate59.errors : vErrors.concat(validate59.errors);
errors = vErrors.length;
}
var valid1 = _errs4 === errors;
if(!valid1){
break;
}
}
}
}
else {
validate75.errors = [{instancePath:instancePath+"/coordinates",schemaPath:"#/properties/coordinates/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema178.properties.coordinates.type,parentSchema:schema178.properties.coordinates,data:data1}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate75.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema178.type,parentSchema:schema178,data}];
return false;
}
}
validate75.errors = vErrors;
return errors === 0;
}
validate75.evaluated = {"props":{"type":true,"coordinates":true},"dynamicProps":false,"dynamicItems":false};

const check22 = validate77;
const schema179 = {"title":"GeometryCollection","type":"object","required":["type","geometries"],"properties":{"type":{"const":"GeometryCollection"},"geometries":{"type":"array","minItems":1,"items":{"type":"object","tsType":"Geometry"}}}};

function validate77(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate77.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.type === undefined) && (missing0 = "type")) || ((data.geometries === undefined) && (missing0 = "geometries"))){
validate77.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema179.required,parentSchema:schema179,data}];
return false;
}
else {
if(data.type !== undefined){
let data0 = data.type;
const _errs1 = errors;
if("GeometryCollection" !== data0){
validate77.errors = [{instancePath:instancePath+"/type",schemaPath:"#/properties/type/const",keyword:"const",params:{allowedValue: "GeometryCollection"},message:"must be equal to constant",schema:"GeometryCollection",parentSchema:schema179.properties.type,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.geometries !== undefined){
let data1 = data.geometries;
const _errs2 = errors;
if(errors === _errs2){
if(Array.isArray(data1)){
if(data1.length < 1){
validate77.errors = [{instancePath:instancePath+"/geometries",schemaPath:"#/properties/geometries/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema179.properties.geometries,data:data1}];
return false;
}
else {
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
const _errs4 = errors;
if(!(data2 && typeof data2 == "object" && !Array.isArray(data2))){
validate77.errors = [{instancePath:instancePath+"/geometries/" + i0,schemaPath:"#/properties/geometries/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema179.properties.geometries.items.type,parentSchema:schema179.properties.geometries.items,data:data2}];
return false;
}
var valid1 = _errs4 === errors;
if(!valid1){
break;
}
}
}
}
else {
validate77.errors = [{instancePath:instancePath+"/geometries",schemaPath:"#/properties/geometries/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema179.properties.geometries.type,parentSchema:schema179.properties.geometries,data:data1}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate77.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema179.type,parentSchema:schema179,data}];
return false;
}
}
validate77.errors = vErrors;
return errors === 0;
}
validate77.evaluated = {"props":{"type":true,"geometries":true},"dynamicProps":false,"dynamicItems":false};

const check23 = validate79;
const schema190 = {"title":"OffchainAttestation","description":"What signOffchainAttestation of the EAS SDK returns, version 1 or 2.","type":"object","required":["uid","domain","primaryType","message","signature"],"properties":{"version":{"description":"The same as in the message.","enum":[1,2]},"uid":{"type":"string","pattern":"^0x[0-9a-fA-F]{64}$"},"domain":{"type":"object","required":["name","version","chainId","verifyingContract"],"properties":{"name":{"const":"EAS Attestation"},"version":{"description":"The version that the EAS contract of the chain states.","type":"string","pattern":"^[0-9]{1,4}(\\.[0-9]{1,4}){1,2}$"},"chainId":{"$ref":"#/$defs/Uint64"},"verifyingContract":{"$ref":"#/$defs/SignerAddress"}}},"primaryType":{"const":"Attest"},"types":{"description":"The EIP-712 types of the version.","type":"object"},"message":{"type":"object","required":["version","schema","recipient","time","expirationTime","revocable","refUID","data"],"properties":{"version":{"enum":[1,2]},"schema":{"type":"string","pattern":"^0x[0-9a-f]{64}$"},"recipient":{"$ref":"#/$defs/SignerAddress"},"time":{"$ref":"#/$defs/Uint64"},"expirationTime":{"$ref":"#/$defs/Uint64"},"revocable":{"type":"boolean"},"refUID":{"type":"string","pattern":"^0x[0-9a-fA-F]{64}$"},"data":{"description":"At most 64 KiB.","type":"string","maxLength":131074,"pattern":"^0x([0-9a-fA-F]{2})*$"},"salt":{"description":"In version 2.","type":"string","pattern":"^0x[0-9a-fA-F]{64}$"}}},"signature":{"description":"r, s and v, or 65 bytes in hex.","type":["object","string"],"pattern":"^0x[0-9a-fA-F]{130}$","required":["r","s","v"],"properties":{"r":{"type":"string","pattern":"^0x[0-9a-fA-F]{64}$"},"s":{"type":"string","pattern":"^0x[0-9a-fA-F]{64}$"},"v":{"type":"integer","minimum":0,"maximum":28}},"tsType":"string | { r: string; s: string; v: number }"}}};
const schema191 = {"description":"A number, or its decimal digits as text.","type":["integer","string"],"minimum":0,"maximum":9007199254740991,"pattern":"^(0|[1-9][0-9]{0,19})$"};
const schema192 = {"type":"string","pattern":"^0x[0-9a-fA-F]{40}$"};
const pattern41 = new RegExp("^[0-9]{1,4}(\\.[0-9]{1,4}){1,2}$", "u");
const pattern42 = new RegExp("^(0|[1-9][0-9]{0,19})$", "u");
const pattern44 = new RegExp("^0x[0-9a-f]{64}$", "u");
const pattern49 = new RegExp("^0x([0-9a-fA-F]{2})*$", "u");
const pattern51 = new RegExp("^0x[0-9a-fA-F]{130}$", "u");

function validate79(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate79.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.uid === undefined) && (missing0 = "uid")) || ((data.domain === undefined) && (missing0 = "domain"))) || ((data.primaryType === undefined) && (missing0 = "primaryType"))) || ((data.message === undefined) && (missing0 = "message"))) || ((data.signature === undefined) && (missing0 = "signature"))){
validate79.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema190.required,parentSchema:schema190,data}];
return false;
}
else {
if(data.version !== undefined){
let data0 = data.version;
const _errs1 = errors;
if(!((data0 === 1) || (data0 === 2))){
validate79.errors = [{instancePath:instancePath+"/version",schemaPath:"#/properties/version/enum",keyword:"enum",params:{allowedValues: schema190.properties.version.enum},message:"must be equal to one of the allowed values",schema:schema190.properties.version.enum,parentSchema:schema190.properties.version,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.uid !== undefined){
let data1 = data.uid;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data1 === "string"){
if(!pattern0.test(data1)){
validate79.errors = [{instancePath:instancePath+"/uid",schemaPath:"#/properties/uid/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema190.properties.uid,data:data1}];
return false;
}
}
else {
validate79.errors = [{instancePath:instancePath+"/uid",schemaPath:"#/properties/uid/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema190.properties.uid.type,parentSchema:schema190.properties.uid,data:data1}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.domain !== undefined){
let data2 = data.domain;
const _errs4 = errors;
if(errors === _errs4){
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
let missing1;
if(((((data2.name === undefined) && (missing1 = "name")) || ((data2.version === undefined) && (missing1 = "version"))) || ((data2.chainId === undefined) && (missing1 = "chainId"))) || ((data2.verifyingContract === undefined) && (missing1 = "verifyingContract"))){
validate79.errors = [{instancePath:instancePath+"/domain",schemaPath:"#/properties/domain/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'",schema:schema190.properties.domain.required,parentSchema:schema190.properties.domain,data:data2}];
return false;
}
else {
if(data2.name !== undefined){
let data3 = data2.name;
const _errs6 = errors;
if("EAS Attestation" !== data3){
validate79.errors = [{instancePath:instancePath+"/domain/name",schemaPath:"#/properties/domain/properties/name/const",keyword:"const",params:{allowedValue: "EAS Attestation"},message:"must be equal to constant",schema:"EAS Attestation",parentSchema:schema190.properties.domain.properties.name,data:data3}];
return false;
}
var valid1 = _errs6 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data2.version !== undefined){
let data4 = data2.version;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data4 === "string"){
if(!pattern41.test(data4)){
validate79.errors = [{instancePath:instancePath+"/domain/version",schemaPath:"#/properties/domain/properties/version/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,4}(\\.[0-9]{1,4}){1,2}$"},message:"must match pattern \""+"^[0-9]{1,4}(\\.[0-9]{1,4}){1,2}$"+"\"",schema:"^[0-9]{1,4}(\\.[0-9]{1,4}){1,2}$",parentSchema:schema190.properties.domain.properties.version,data:data4}];
return false;
}
}
else {
validate79.errors = [{instancePath:instancePath+"/domain/version",schemaPath:"#/properties/domain/properties/version/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema190.properties.domain.properties.version.type,parentSchema:schema190.properties.domain.properties.version,data:data4}];
return false;
}
}
var valid1 = _errs7 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data2.chainId !== undefined){
let data5 = data2.chainId;
const _errs9 = errors;
const _errs10 = errors;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (typeof data5 !== "string")){
validate79.errors = [{instancePath:instancePath+"/domain/chainId",schemaPath:"#/$defs/Uint64/type",keyword:"type",params:{type: schema191.type},message:"must be integer,string",schema:schema191.type,parentSchema:schema191,data:data5}];
return false;
}
if(errors === _errs10){
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 > 9007199254740991 || isNaN(data5)){
validate79.errors = [{instancePath:instancePath+"/domain/chainId",schemaPath:"#/$defs/Uint64/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema191,data:data5}];
return false;
}
else {
if(data5 < 0 || isNaN(data5)){
validate79.errors = [{instancePath:instancePath+"/domain/chainId",schemaPath:"#/$defs/Uint64/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema191,data:data5}];
return false;
}
}
}
if(errors === _errs10){
if(typeof data5 === "string"){
if(!pattern42.test(data5)){
validate79.errors = [{instancePath:instancePath+"/domain/chainId",schemaPath:"#/$defs/Uint64/pattern",keyword:"pattern",params:{pattern: "^(0|[1-9][0-9]{0,19})$"},message:"must match pattern \""+"^(0|[1-9][0-9]{0,19})$"+"\"",schema:"^(0|[1-9][0-9]{0,19})$",parentSchema:schema191,data:data5}];
return false;
}
}
}
}
var valid1 = _errs9 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data2.verifyingContract !== undefined){
let data6 = data2.verifyingContract;
const _errs12 = errors;
const _errs13 = errors;
if(errors === _errs13){
if(typeof data6 === "string"){
if(!pattern1.test(data6)){
validate79.errors = [{instancePath:instancePath+"/domain/verifyingContract",schemaPath:"#/$defs/SignerAddress/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema192,data:data6}];
return false;
}
}
else {
validate79.errors = [{instancePath:instancePath+"/domain/verifyingContract",schemaPath:"#/$defs/SignerAddress/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema192.type,parentSchema:schema192,data:data6}];
return false;
}
}
var valid1 = _errs12 === errors;
}
else {
var valid1 = true;
}
}
}
}
}
}
else {
validate79.errors = [{instancePath:instancePath+"/domain",schemaPath:"#/properties/domain/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema190.properties.domain.type,parentSchema:schema190.properties.domain,data:data2}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.primaryType !== undefined){
let data7 = data.primaryType;
const _errs15 = errors;
if("Attest" !== data7){
validate79.errors = [{instancePath:instancePath+"/primaryType",schemaPath:"#/properties/primaryType/const",keyword:"const",params:{allowedValue: "Attest"},message:"must be equal to constant",schema:"Attest",parentSchema:schema190.properties.primaryType,data:data7}];
return false;
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.types !== undefined){
let data8 = data.types;
const _errs16 = errors;
if(!(data8 && typeof data8 == "object" && !Array.isArray(data8))){
validate79.errors = [{instancePath:instancePath+"/types",schemaPath:"#/properties/types/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema190.properties.types.type,parentSchema:schema190.properties.types,data:data8}];
return false;
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.message !== undefined){
let data9 = data.message;
const _errs18 = errors;
if(errors === _errs18){
if(data9 && typeof data9 == "object" && !Array.isArray(data9)){
let missing2;
if(((((((((data9.version === undefined) && (missing2 = "version")) || ((data9.schema === undefined) && (missing2 = "schema"))) || ((data9.recipient === undefined) && (missing2 = "recipient"))) || ((data9.time === undefined) && (missing2 = "time"))) || ((data9.expirationTime === undefined) && (missing2 = "expirationTime"))) || ((data9.revocable === undefined) && (missing2 = "revocable"))) || ((data9.refUID === undefined) && (missing2 = "refUID"))) || ((data9.data === undefined) && (missing2 = "data"))){
validate79.errors = [{instancePath:instancePath+"/message",schemaPath:"#/properties/message/required",keyword:"required",params:{missingProperty: missing2},message:"must have required property '"+missing2+"'",schema:schema190.properties.message.required,parentSchema:schema190.properties.message,data:data9}];
return false;
}
else {
if(data9.version !== undefined){
let data10 = data9.version;
const _errs20 = errors;
if(!((data10 === 1) || (data10 === 2))){
validate79.errors = [{instancePath:instancePath+"/message/version",schemaPath:"#/properties/message/properties/version/enum",keyword:"enum",params:{allowedValues: schema190.properties.message.properties.version.enum},message:"must be equal to one of the allowed values",schema:schema190.properties.message.properties.version.enum,parentSchema:schema190.properties.message.properties.version,data:data10}];
return false;
}
var valid4 = _errs20 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data9.schema !== undefined){
let data11 = data9.schema;
const _errs21 = errors;
if(errors === _errs21){
if(typeof data11 === "string"){
if(!pattern44.test(data11)){
validate79.errors = [{instancePath:instancePath+"/message/schema",schemaPath:"#/properties/message/properties/schema/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-f]{64}$"},message:"must match pattern \""+"^0x[0-9a-f]{64}$"+"\"",schema:"^0x[0-9a-f]{64}$",parentSchema:schema190.properties.message.properties.schema,data:data11}];
return false;
}
}
else {
validate79.errors = [{instancePath:instancePath+"/message/schema",schemaPath:"#/properties/message/properties/schema/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema190.properties.message.properties.schema.type,parentSchema:schema190.properties.message.properties.schema,data:data11}];
return false;
}
}
var valid4 = _errs21 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data9.recipient !== undefined){
let data12 = data9.recipient;
const _errs23 = errors;
const _errs24 = errors;
if(errors === _errs24){
if(typeof data12 === "string"){
if(!pattern1.test(data12)){
validate79.errors = [{instancePath:instancePath+"/message/recipient",schemaPath:"#/$defs/SignerAddress/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema192,data:data12}];
return false;
}
}
else {
validate79.errors = [{instancePath:instancePath+"/message/recipient",schemaPath:"#/$defs/SignerAddress/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema192.type,parentSchema:schema192,data:data12}];
return false;
}
}
var valid4 = _errs23 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data9.time !== undefined){
let data13 = data9.time;
const _errs26 = errors;
const _errs27 = errors;
if((!(((typeof data13 == "number") && (!(data13 % 1) && !isNaN(data13))) && (isFinite(data13)))) && (typeof data13 !== "string")){
validate79.errors = [{instancePath:instancePath+"/message/time",schemaPath:"#/$defs/Uint64/type",keyword:"type",params:{type: schema191.type},message:"must be integer,string",schema:schema191.type,parentSchema:schema191,data:data13}];
return false;
}
if(errors === _errs27){
if((typeof data13 == "number") && (isFinite(data13))){
if(data13 > 9007199254740991 || isNaN(data13)){
validate79.errors = [{instancePath:instancePath+"/message/time",schemaPath:"#/$defs/Uint64/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema191,data:data13}];
return false;
}
else {
if(data13 < 0 || isNaN(data13)){
validate79.errors = [{instancePath:instancePath+"/message/time",schemaPath:"#/$defs/Uint64/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema191,data:data13}];
return false;
}
}
}
if(errors === _errs27){
if(typeof data13 === "string"){
if(!pattern42.test(data13)){
validate79.errors = [{instancePath:instancePath+"/message/time",schemaPath:"#/$defs/Uint64/pattern",keyword:"pattern",params:{pattern: "^(0|[1-9][0-9]{0,19})$"},message:"must match pattern \""+"^(0|[1-9][0-9]{0,19})$"+"\"",schema:"^(0|[1-9][0-9]{0,19})$",parentSchema:schema191,data:data13}];
return false;
}
}
}
}
var valid4 = _errs26 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data9.expirationTime !== undefined){
let data14 = data9.expirationTime;
const _errs29 = errors;
const _errs30 = errors;
if((!(((typeof data14 == "number") && (!(data14 % 1) && !isNaN(data14))) && (isFinite(data14)))) && (typeof data14 !== "string")){
validate79.errors = [{instancePath:instancePath+"/message/expirationTime",schemaPath:"#/$defs/Uint64/type",keyword:"type",params:{type: schema191.type},message:"must be integer,string",schema:schema191.type,parentSchema:schema191,data:data14}];
return false;
}
if(errors === _errs30){
if((typeof data14 == "number") && (isFinite(data14))){
if(data14 > 9007199254740991 || isNaN(data14)){
validate79.errors = [{instancePath:instancePath+"/message/expirationTime",schemaPath:"#/$defs/Uint64/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema191,data:data14}];
return false;
}
else {
if(data14 < 0 || isNaN(data14)){
validate79.errors = [{instancePath:instancePath+"/message/expirationTime",schemaPath:"#/$defs/Uint64/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema191,data:data14}];
return false;
}
}
}
if(errors === _errs30){
if(typeof data14 === "string"){
if(!pattern42.test(data14)){
validate79.errors = [{instancePath:instancePath+"/message/expirationTime",schemaPath:"#/$defs/Uint64/pattern",keyword:"pattern",params:{pattern: "^(0|[1-9][0-9]{0,19})$"},message:"must match pattern \""+"^(0|[1-9][0-9]{0,19})$"+"\"",schema:"^(0|[1-9][0-9]{0,19})$",parentSchema:schema191,data:data14}];
return false;
}
}
}
}
var valid4 = _errs29 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data9.revocable !== undefined){
let data15 = data9.revocable;
const _errs32 = errors;
if(typeof data15 !== "boolean"){
validate79.errors = [{instancePath:instancePath+"/message/revocable",schemaPath:"#/properties/message/properties/revocable/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema190.properties.message.properties.revocable.type,parentSchema:schema190.properties.message.properties.revocable,data:data15}];
return false;
}
var valid4 = _errs32 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data9.refUID !== undefined){
let data16 = data9.refUID;
const _errs34 = errors;
if(errors === _errs34){
if(typeof data16 === "string"){
if(!pattern0.test(data16)){
validate79.errors = [{instancePath:instancePath+"/message/refUID",schemaPath:"#/properties/message/properties/refUID/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema190.properties.message.properties.refUID,data:data16}];
return false;
}
}
else {
validate79.errors = [{instancePath:instancePath+"/message/refUID",schemaPath:"#/properties/message/properties/refUID/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema190.properties.message.properties.refUID.type,parentSchema:schema190.properties.message.properties.refUID,data:data16}];
return false;
}
}
var valid4 = _errs34 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data9.data !== undefined){
let data17 = data9.data;
const _errs36 = errors;
if(errors === _errs36){
if(typeof data17 === "string"){
if(func0(data17) > 131074){
validate79.errors = [{instancePath:instancePath+"/message/data",schemaPath:"#/properties/message/properties/data/maxLength",keyword:"maxLength",params:{limit: 131074},message:"must NOT have more than 131074 characters",schema:131074,parentSchema:schema190.properties.message.properties.data,data:data17}];
return false;
}
else {
if(!pattern49.test(data17)){
validate79.errors = [{instancePath:instancePath+"/message/data",schemaPath:"#/properties/message/properties/data/pattern",keyword:"pattern",params:{pattern: "^0x([0-9a-fA-F]{2})*$"},message:"must match pattern \""+"^0x([0-9a-fA-F]{2})*$"+"\"",schema:"^0x([0-9a-fA-F]{2})*$",parentSchema:schema190.properties.message.properties.data,data:data17}];
return false;
}
}
}
else {
validate79.errors = [{instancePath:instancePath+"/message/data",schemaPath:"#/properties/message/properties/data/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema190.properties.message.properties.data.type,parentSchema:schema190.properties.message.properties.data,data:data17}];
return false;
}
}
var valid4 = _errs36 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data9.salt !== undefined){
let data18 = data9.salt;
const _errs38 = errors;
if(errors === _errs38){
if(typeof data18 === "string"){
if(!pattern0.test(data18)){
validate79.errors = [{instancePath:instancePath+"/message/salt",schemaPath:"#/properties/message/properties/salt/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema190.properties.message.properties.salt,data:data18}];
return false;
}
}
else {
validate79.errors = [{instancePath:instancePath+"/message/salt",schemaPath:"#/properties/message/properties/salt/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema190.properties.message.properties.salt.type,parentSchema:schema190.properties.message.properties.salt,data:data18}];
return false;
}
}
var valid4 = _errs38 === errors;
}
else {
var valid4 = true;
}
}
}
}
}
}
}
}
}
}
}
else {
validate79.errors = [{instancePath:instancePath+"/message",schemaPath:"#/properties/message/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema190.properties.message.type,parentSchema:schema190.properties.message,data:data9}];
return false;
}
}
var valid0 = _errs18 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.signature !== undefined){
let data19 = data.signature;
const _errs40 = errors;
if((!(data19 && typeof data19 == "object" && !Array.isArray(data19))) && (typeof data19 !== "string")){
validate79.errors = [{instancePath:instancePath+"/signature",schemaPath:"#/properties/signature/type",keyword:"type",params:{type: schema190.properties.signature.type},message:"must be object,string",schema:schema190.properties.signature.type,parentSchema:schema190.properties.signature,data:data19}];
return false;
}
if(errors === _errs40){
if(typeof data19 === "string"){
if(!pattern51.test(data19)){
validate79.errors = [{instancePath:instancePath+"/signature",schemaPath:"#/properties/signature/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{130}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{130}$"+"\"",schema:"^0x[0-9a-fA-F]{130}$",parentSchema:schema190.properties.signature,data:data19}];
return false;
}
}
if(errors === _errs40){
if(data19 && typeof data19 == "object" && !Array.isArray(data19)){
let missing3;
if((((data19.r === undefined) && (missing3 = "r")) || ((data19.s === undefined) && (missing3 = "s"))) || ((data19.v === undefined) && (missing3 = "v"))){
validate79.errors = [{instancePath:instancePath+"/signature",schemaPath:"#/properties/signature/required",keyword:"required",params:{missingProperty: missing3},message:"must have required property '"+missing3+"'",schema:schema190.properties.signature.required,parentSchema:schema190.properties.signature,data:data19}];
return false;
}
else {
if(data19.r !== undefined){
let data20 = data19.r;
const _errs42 = errors;
if(errors === _errs42){
if(typeof data20 === "string"){
if(!pattern0.test(data20)){
validate79.errors = [{instancePath:instancePath+"/signature/r",schemaPath:"#/properties/signature/properties/r/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema190.properties.signature.properties.r,data:data20}];
return false;
}
}
else {
validate79.errors = [{instancePath:instancePath+"/signature/r",schemaPath:"#/properties/signature/properties/r/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema190.properties.signature.properties.r.type,parentSchema:schema190.properties.signature.properties.r,data:data20}];
return false;
}
}
var valid8 = _errs42 === errors;
}
else {
var valid8 = true;
}
if(valid8){
if(data19.s !== undefined){
let data21 = data19.s;
const _errs44 = errors;
if(errors === _errs44){
if(typeof data21 === "string"){
if(!pattern0.test(data21)){
validate79.errors = [{instancePath:instancePath+"/signature/s",schemaPath:"#/properties/signature/properties/s/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema190.properties.signature.properties.s,data:data21}];
return false;
}
}
else {
validate79.errors = [{instancePath:instancePath+"/signature/s",schemaPath:"#/properties/signature/properties/s/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema190.properties.signature.properties.s.type,parentSchema:schema190.properties.signature.properties.s,data:data21}];
return false;
}
}
var valid8 = _errs44 === errors;
}
else {
var valid8 = true;
}
if(valid8){
if(data19.v !== undefined){
let data22 = data19.v;
const _errs46 = errors;
if(!(((typeof data22 == "number") && (!(data22 % 1) && !isNaN(data22))) && (isFinite(data22)))){
validate79.errors = [{instancePath:instancePath+"/signature/v",schemaPath:"#/properties/signature/properties/v/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema190.properties.signature.properties.v.type,parentSchema:schema190.properties.signature.properties.v,data:data22}];
return false;
}
if(errors === _errs46){
if((typeof data22 == "number") && (isFinite(data22))){
if(data22 > 28 || isNaN(data22)){
validate79.errors = [{instancePath:instancePath+"/signature/v",schemaPath:"#/properties/signature/properties/v/maximum",keyword:"maximum",params:{comparison: "<=", limit: 28},message:"must be <= 28",schema:28,parentSchema:schema190.properties.signature.properties.v,data:data22}];
return false;
}
else {
if(data22 < 0 || isNaN(data22)){
validate79.errors = [{instancePath:instancePath+"/signature/v",schemaPath:"#/properties/signature/properties/v/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema190.properties.signature.properties.v,data:data22}];
return false;
}
}
}
}
var valid8 = _errs46 === errors;
}
else {
var valid8 = true;
}
}
}
}
}
}
}
var valid0 = _errs40 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
else {
validate79.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema190.type,parentSchema:schema190,data}];
return false;
}
}
validate79.errors = vErrors;
return errors === 0;
}
validate79.evaluated = {"props":{"version":true,"uid":true,"domain":true,"primaryType":true,"types":true,"message":true,"signature":true},"dynamicProps":false,"dynamicItems":false};

const check24 = validate80;
const schema196 = {"title":"OnchainInput","description":"A location attestation on the chain named by chainId.","type":"object","required":["uid"],"properties":{"uid":{"type":"string","pattern":"^0x[0-9a-fA-F]{64}$"}}};

function validate80(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate80.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.uid === undefined) && (missing0 = "uid")){
validate80.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema196.required,parentSchema:schema196,data}];
return false;
}
else {
if(data.uid !== undefined){
let data0 = data.uid;
const _errs1 = errors;
if(errors === _errs1){
if(typeof data0 === "string"){
if(!pattern0.test(data0)){
validate80.errors = [{instancePath:instancePath+"/uid",schemaPath:"#/properties/uid/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema196.properties.uid,data:data0}];
return false;
}
}
else {
validate80.errors = [{instancePath:instancePath+"/uid",schemaPath:"#/properties/uid/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema196.properties.uid.type,parentSchema:schema196.properties.uid,data:data0}];
return false;
}
}
}
}
}
else {
validate80.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema196.type,parentSchema:schema196,data}];
return false;
}
}
validate80.errors = vErrors;
return errors === 0;
}
validate80.evaluated = {"props":{"uid":true},"dynamicProps":false,"dynamicItems":false};

const check25 = validate81;

function validate81(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate81.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(typeof data === "string"){
if(!pattern1.test(data)){
validate81.errors = [{instancePath,schemaPath:"#/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema192,data}];
return false;
}
}
else {
validate81.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema192.type,parentSchema:schema192,data}];
return false;
}
}
validate81.errors = vErrors;
return errors === 0;
}
validate81.evaluated = {"dynamicProps":false,"dynamicItems":false};

const check26 = validate82;
const schema198 = {"title":"StoredInput","description":"A geometry that the API key has stored with PUT /compute/v0/geometries, by its hash.","type":"object","required":["ref"],"properties":{"ref":{"type":"string","pattern":"^0x[0-9a-fA-F]{64}$"}}};

function validate82(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate82.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.ref === undefined) && (missing0 = "ref")){
validate82.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema198.required,parentSchema:schema198,data}];
return false;
}
else {
if(data.ref !== undefined){
let data0 = data.ref;
const _errs1 = errors;
if(errors === _errs1){
if(typeof data0 === "string"){
if(!pattern0.test(data0)){
validate82.errors = [{instancePath:instancePath+"/ref",schemaPath:"#/properties/ref/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema198.properties.ref,data:data0}];
return false;
}
}
else {
validate82.errors = [{instancePath:instancePath+"/ref",schemaPath:"#/properties/ref/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema198.properties.ref.type,parentSchema:schema198.properties.ref,data:data0}];
return false;
}
}
}
}
}
else {
validate82.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema198.type,parentSchema:schema198,data}];
return false;
}
}
validate82.errors = vErrors;
return errors === 0;
}
validate82.evaluated = {"props":{"ref":true},"dynamicProps":false,"dynamicItems":false};

const check27 = validate83;
const schema199 = {"title":"NamedInput","description":"An input that a batch in one JSON document has in its `geometries`, by its name there. Other requests reject it.","type":"object","required":["named"],"properties":{"named":{"$ref":"#/$defs/InputName"}}};
const schema200 = {"description":"1 to 64 printable characters.","type":"string","minLength":1,"maxLength":64};

function validate83(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate83.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.named === undefined) && (missing0 = "named")){
validate83.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema199.required,parentSchema:schema199,data}];
return false;
}
else {
if(data.named !== undefined){
let data0 = data.named;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(func0(data0) > 64){
validate83.errors = [{instancePath:instancePath+"/named",schemaPath:"#/$defs/InputName/maxLength",keyword:"maxLength",params:{limit: 64},message:"must NOT have more than 64 characters",schema:64,parentSchema:schema200,data:data0}];
return false;
}
else {
if(func0(data0) < 1){
validate83.errors = [{instancePath:instancePath+"/named",schemaPath:"#/$defs/InputName/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema200,data:data0}];
return false;
}
}
}
else {
validate83.errors = [{instancePath:instancePath+"/named",schemaPath:"#/$defs/InputName/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema200.type,parentSchema:schema200,data:data0}];
return false;
}
}
}
}
}
else {
validate83.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema199.type,parentSchema:schema199,data}];
return false;
}
}
validate83.errors = vErrors;
return errors === 0;
}
validate83.evaluated = {"props":{"named":true},"dynamicProps":false,"dynamicItems":false};

const check28 = validate84;
const schema201 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"verified-proof.schema.json","title":"VerifiedLocationProof","description":"A proof with its credibility vector, as POST /verify/v0/proof returns it and as compute operations accept it.","type":"object","required":["proof"],"properties":{"proof":{"$ref":"#/$defs/LocationProof"},"credibility":{"type":"object"},"evaluationMethod":{"type":"string"},"evaluatedAt":{"type":"number"},"chainId":{"type":"integer","minimum":1,"maximum":9007199254740991},"attestation":{"$ref":"#/$defs/ProofAttestation"},"delegatedAttestation":{"$ref":"#/$defs/ProofDelegation"}},"$defs":{"SubjectIdentifier":{"title":"SubjectIdentifier","type":"object","required":["scheme","value"],"properties":{"scheme":{"type":"string"},"value":{"type":"string"}}},"TimeRange":{"title":"TimeRange","description":"Unix seconds.","type":"object","required":["start","end"],"properties":{"start":{"type":"number","minimum":0},"end":{"type":"number","minimum":0}}},"LocationClaim":{"title":"LocationClaim","type":"object","required":["lpVersion","locationType","location","srs","subject","radius","time"],"properties":{"lpVersion":{"const":"0.2"},"locationType":{"type":"string"},"location":{"description":"A GeoJSON geometry, or text in the notation that locationType names.","type":["object","string"],"tsType":"Geometry | string"},"srs":{"type":"string"},"subject":{"$ref":"#/$defs/SubjectIdentifier"},"radius":{"description":"Metres.","type":"number","exclusiveMinimum":0},"time":{"$ref":"#/$defs/TimeRange"},"eventType":{"type":"string"}}},"LocationProof":{"title":"LocationProof","type":"object","required":["claim","stamps"],"properties":{"claim":{"$ref":"#/$defs/LocationClaim"},"stamps":{"type":"array","minItems":1,"maxItems":64,"items":{"type":"object"}}}},"ProofAttestation":{"title":"ProofAttestation","type":"object","required":["uid","schema","attester","recipient","data","revocable","refUID","time","expirationTime","revocationTime"],"properties":{"uid":{"type":"string","pattern":"^0x[0-9a-fA-F]{64}$"},"schema":{"type":"string","pattern":"^0x[0-9a-fA-F]{64}$"},"attester":{"type":"string","pattern":"^0x[0-9a-fA-F]{40}$"},"recipient":{"type":"string","pattern":"^0x[0-9a-fA-F]{40}$"},"data":{"type":"string","pattern":"^0x([0-9a-fA-F]{64})+$","maxLength":4096},"revocable":{"type":"boolean"},"refUID":{"type":"string","pattern":"^0x[0-9a-fA-F]{64}$"},"time":{"type":"integer","minimum":0,"maximum":281474976710655},"expirationTime":{"type":"integer","minimum":0,"maximum":281474976710655},"revocationTime":{"type":"integer","minimum":0,"maximum":281474976710655},"signature":{"type":"string"}}},"ProofDelegation":{"title":"ProofDelegation","type":"object","required":["signature","attester","deadline","nonce"],"properties":{"signature":{"type":"string","pattern":"^0x[0-9a-fA-F]{130}$"},"attester":{"type":"string","pattern":"^0x[0-9a-fA-F]{40}$"},"deadline":{"type":"integer","minimum":0,"maximum":281474976710655},"nonce":{"type":"integer","minimum":0,"maximum":281474976710655}}}}};
const schema206 = {"title":"ProofAttestation","type":"object","required":["uid","schema","attester","recipient","data","revocable","refUID","time","expirationTime","revocationTime"],"properties":{"uid":{"type":"string","pattern":"^0x[0-9a-fA-F]{64}$"},"schema":{"type":"string","pattern":"^0x[0-9a-fA-F]{64}$"},"attester":{"type":"string","pattern":"^0x[0-9a-fA-F]{40}$"},"recipient":{"type":"string","pattern":"^0x[0-9a-fA-F]{40}$"},"data":{"type":"string","pattern":"^0x([0-9a-fA-F]{64})+$","maxLength":4096},"revocable":{"type":"boolean"},"refUID":{"type":"string","pattern":"^0x[0-9a-fA-F]{64}$"},"time":{"type":"integer","minimum":0,"maximum":281474976710655},"expirationTime":{"type":"integer","minimum":0,"maximum":281474976710655},"revocationTime":{"type":"integer","minimum":0,"maximum":281474976710655},"signature":{"type":"string"}}};
const schema207 = {"title":"ProofDelegation","type":"object","required":["signature","attester","deadline","nonce"],"properties":{"signature":{"type":"string","pattern":"^0x[0-9a-fA-F]{130}$"},"attester":{"type":"string","pattern":"^0x[0-9a-fA-F]{40}$"},"deadline":{"type":"integer","minimum":0,"maximum":281474976710655},"nonce":{"type":"integer","minimum":0,"maximum":281474976710655}}};
const schema202 = {"title":"LocationProof","type":"object","required":["claim","stamps"],"properties":{"claim":{"$ref":"#/$defs/LocationClaim"},"stamps":{"type":"array","minItems":1,"maxItems":64,"items":{"type":"object"}}}};
const schema203 = {"title":"LocationClaim","type":"object","required":["lpVersion","locationType","location","srs","subject","radius","time"],"properties":{"lpVersion":{"const":"0.2"},"locationType":{"type":"string"},"location":{"description":"A GeoJSON geometry, or text in the notation that locationType names.","type":["object","string"],"tsType":"Geometry | string"},"srs":{"type":"string"},"subject":{"$ref":"#/$defs/SubjectIdentifier"},"radius":{"description":"Metres.","type":"number","exclusiveMinimum":0},"time":{"$ref":"#/$defs/TimeRange"},"eventType":{"type":"string"}}};
const schema204 = {"title":"SubjectIdentifier","type":"object","required":["scheme","value"],"properties":{"scheme":{"type":"string"},"value":{"type":"string"}}};
const schema205 = {"title":"TimeRange","description":"Unix seconds.","type":"object","required":["start","end"],"properties":{"start":{"type":"number","minimum":0},"end":{"type":"number","minimum":0}}};

function validate86(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate86.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((data.lpVersion === undefined) && (missing0 = "lpVersion")) || ((data.locationType === undefined) && (missing0 = "locationType"))) || ((data.location === undefined) && (missing0 = "location"))) || ((data.srs === undefined) && (missing0 = "srs"))) || ((data.subject === undefined) && (missing0 = "subject"))) || ((data.radius === undefined) && (missing0 = "radius"))) || ((data.time === undefined) && (missing0 = "time"))){
validate86.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema203.required,parentSchema:schema203,data}];
return false;
}
else {
if(data.lpVersion !== undefined){
let data0 = data.lpVersion;
const _errs1 = errors;
if("0.2" !== data0){
validate86.errors = [{instancePath:instancePath+"/lpVersion",schemaPath:"#/properties/lpVersion/const",keyword:"const",params:{allowedValue: "0.2"},message:"must be equal to constant",schema:"0.2",parentSchema:schema203.properties.lpVersion,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.locationType !== undefined){
let data1 = data.locationType;
const _errs2 = errors;
if(typeof data1 !== "string"){
validate86.errors = [{instancePath:instancePath+"/locationType",schemaPath:"#/properties/locationType/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema203.properties.locationType.type,parentSchema:schema203.properties.locationType,data:data1}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.location !== undefined){
let data2 = data.location;
const _errs4 = errors;
if((!(data2 && typeof data2 == "object" && !Array.isArray(data2))) && (typeof data2 !== "string")){
validate86.errors = [{instancePath:instancePath+"/location",schemaPath:"#/properties/location/type",keyword:"type",params:{type: schema203.properties.location.type},message:"must be object,string",schema:schema203.properties.location.type,parentSchema:schema203.properties.location,data:data2}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.srs !== undefined){
let data3 = data.srs;
const _errs6 = errors;
if(typeof data3 !== "string"){
validate86.errors = [{instancePath:instancePath+"/srs",schemaPath:"#/properties/srs/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema203.properties.srs.type,parentSchema:schema203.properties.srs,data:data3}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.subject !== undefined){
let data4 = data.subject;
const _errs8 = errors;
const _errs9 = errors;
if(errors === _errs9){
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
let missing1;
if(((data4.scheme === undefined) && (missing1 = "scheme")) || ((data4.value === undefined) && (missing1 = "value"))){
validate86.errors = [{instancePath:instancePath+"/subject",schemaPath:"#/$defs/SubjectIdentifier/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'",schema:schema204.required,parentSchema:schema204,data:data4}];
return false;
}
else {
if(data4.scheme !== undefined){
let data5 = data4.scheme;
const _errs11 = errors;
if(typeof data5 !== "string"){
validate86.errors = [{instancePath:instancePath+"/subject/scheme",schemaPath:"#/$defs/SubjectIdentifier/properties/scheme/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema204.properties.scheme.type,parentSchema:schema204.properties.scheme,data:data5}];
return false;
}
var valid2 = _errs11 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data4.value !== undefined){
let data6 = data4.value;
const _errs13 = errors;
if(typeof data6 !== "string"){
validate86.errors = [{instancePath:instancePath+"/subject/value",schemaPath:"#/$defs/SubjectIdentifier/properties/value/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema204.properties.value.type,parentSchema:schema204.properties.value,data:data6}];
return false;
}
var valid2 = _errs13 === errors;
}
else {
var valid2 = true;
}
}
}
}
else {
validate86.errors = [{instancePath:instancePath+"/subject",schemaPath:"#/$defs/SubjectIdentifier/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema204.type,parentSchema:schema204,data:data4}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.radius !== undefined){
let data7 = data.radius;
const _errs15 = errors;
if(errors === _errs15){
if((typeof data7 == "number") && (isFinite(data7))){
if(data7 <= 0 || isNaN(data7)){
validate86.errors = [{instancePath:instancePath+"/radius",schemaPath:"#/properties/radius/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0",schema:0,parentSchema:schema203.properties.radius,data:data7}];
return false;
}
}
else {
validate86.errors = [{instancePath:instancePath+"/radius",schemaPath:"#/properties/radius/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema203.properties.radius.type,parentSchema:schema203.properties.radius,data:data7}];
return false;
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.time !== undefined){
let data8 = data.time;
const _errs17 = errors;
const _errs18 = errors;
if(errors === _errs18){
if(data8 && typeof data8 == "object" && !Array.isArray(data8)){
let missing2;
if(((data8.start === undefined) && (missing2 = "start")) || ((data8.end === undefined) && (missing2 = "end"))){
validate86.errors = [{instancePath:instancePath+"/time",schemaPath:"#/$defs/TimeRange/required",keyword:"required",params:{missingProperty: missing2},message:"must have required property '"+missing2+"'",schema:schema205.required,parentSchema:schema205,data:data8}];
return false;
}
else {
if(data8.start !== undefined){
let data9 = data8.start;
const _errs20 = errors;
if(errors === _errs20){
if((typeof data9 == "number") && (isFinite(data9))){
if(data9 < 0 || isNaN(data9)){
validate86.errors = [{instancePath:instancePath+"/time/start",schemaPath:"#/$defs/TimeRange/properties/start/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema205.properties.start,data:data9}];
return false;
}
}
else {
validate86.errors = [{instancePath:instancePath+"/time/start",schemaPath:"#/$defs/TimeRange/properties/start/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema205.properties.start.type,parentSchema:schema205.properties.start,data:data9}];
return false;
}
}
var valid4 = _errs20 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data8.end !== undefined){
let data10 = data8.end;
const _errs22 = errors;
if(errors === _errs22){
if((typeof data10 == "number") && (isFinite(data10))){
if(data10 < 0 || isNaN(data10)){
validate86.errors = [{instancePath:instancePath+"/time/end",schemaPath:"#/$defs/TimeRange/properties/end/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema205.properties.end,data:data10}];
return false;
}
}
else {
validate86.errors = [{instancePath:instancePath+"/time/end",schemaPath:"#/$defs/TimeRange/properties/end/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema205.properties.end.type,parentSchema:schema205.properties.end,data:data10}];
return false;
}
}
var valid4 = _errs22 === errors;
}
else {
var valid4 = true;
}
}
}
}
else {
validate86.errors = [{instancePath:instancePath+"/time",schemaPath:"#/$defs/TimeRange/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema205.type,parentSchema:schema205,data:data8}];
return false;
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.eventType !== undefined){
let data11 = data.eventType;
const _errs24 = errors;
if(typeof data11 !== "string"){
validate86.errors = [{instancePath:instancePath+"/eventType",schemaPath:"#/properties/eventType/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema203.properties.eventType.type,parentSchema:schema203.properties.eventType,data:data11}];
return false;
}
var valid0 = _errs24 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
else {
validate86.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema203.type,parentSchema:schema203,data}];
return false;
}
}
validate86.errors = vErrors;
return errors === 0;
}
validate86.evaluated = {"props":{"lpVersion":true,"locationType":true,"location":true,"srs":true,"subject":true,"radius":true,"time":true,"eventType":true},"dynamicProps":false,"dynamicItems":false};


function validate85(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate85.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.claim === undefined) && (missing0 = "claim")) || ((data.stamps === undefined) && (missing0 = "stamps"))){
validate85.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema202.required,parentSchema:schema202,data}];
return false;
}
else {
if(data.claim !== undefined){
const _errs1 = errors;
if(!(validate86(data.claim, {instancePath:instancePath+"/claim",parentData:data,parentDataProperty:"claim",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate86.errors : vErrors.concat(validate86.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.stamps !== undefined){
let data1 = data.stamps;
const _errs2 = errors;
if(errors === _errs2){
if(Array.isArray(data1)){
if(data1.length > 64){
validate85.errors = [{instancePath:instancePath+"/stamps",schemaPath:"#/properties/stamps/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items",schema:64,parentSchema:schema202.properties.stamps,data:data1}];
return false;
}
else {
if(data1.length < 1){
validate85.errors = [{instancePath:instancePath+"/stamps",schemaPath:"#/properties/stamps/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema202.properties.stamps,data:data1}];
return false;
}
else {
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
const _errs4 = errors;
if(!(data2 && typeof data2 == "object" && !Array.isArray(data2))){
validate85.errors = [{instancePath:instancePath+"/stamps/" + i0,schemaPath:"#/properties/stamps/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema202.properties.stamps.items.type,parentSchema:schema202.properties.stamps.items,data:data2}];
return false;
}
var valid1 = _errs4 === errors;
if(!valid1){
break;
}
}
}
}
}
else {
validate85.errors = [{instancePath:instancePath+"/stamps",schemaPath:"#/properties/stamps/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema202.properties.stamps.type,parentSchema:schema202.properties.stamps,data:data1}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate85.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema202.type,parentSchema:schema202,data}];
return false;
}
}
validate85.errors = vErrors;
return errors === 0;
}
validate85.evaluated = {"props":{"claim":true,"stamps":true},"dynamicProps":false,"dynamicItems":false};

const pattern61 = new RegExp("^0x([0-9a-fA-F]{64})+$", "u");

function validate84(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="verified-proof.schema.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate84.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.proof === undefined) && (missing0 = "proof")){
validate84.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema201.required,parentSchema:schema201,data}];
return false;
}
else {
if(data.proof !== undefined){
const _errs1 = errors;
if(!(validate85(data.proof, {instancePath:instancePath+"/proof",parentData:data,parentDataProperty:"proof",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate85.errors : vErrors.concat(validate85.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.credibility !== undefined){
let data1 = data.credibility;
const _errs2 = errors;
if(!(data1 && typeof data1 == "object" && !Array.isArray(data1))){
validate84.errors = [{instancePath:instancePath+"/credibility",schemaPath:"#/properties/credibility/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema201.properties.credibility.type,parentSchema:schema201.properties.credibility,data:data1}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.evaluationMethod !== undefined){
let data2 = data.evaluationMethod;
const _errs4 = errors;
if(typeof data2 !== "string"){
validate84.errors = [{instancePath:instancePath+"/evaluationMethod",schemaPath:"#/properties/evaluationMethod/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema201.properties.evaluationMethod.type,parentSchema:schema201.properties.evaluationMethod,data:data2}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.evaluatedAt !== undefined){
let data3 = data.evaluatedAt;
const _errs6 = errors;
if(!((typeof data3 == "number") && (isFinite(data3)))){
validate84.errors = [{instancePath:instancePath+"/evaluatedAt",schemaPath:"#/properties/evaluatedAt/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema201.properties.evaluatedAt.type,parentSchema:schema201.properties.evaluatedAt,data:data3}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.chainId !== undefined){
let data4 = data.chainId;
const _errs8 = errors;
if(!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))){
validate84.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/properties/chainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema201.properties.chainId.type,parentSchema:schema201.properties.chainId,data:data4}];
return false;
}
if(errors === _errs8){
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 9007199254740991 || isNaN(data4)){
validate84.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/properties/chainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema201.properties.chainId,data:data4}];
return false;
}
else {
if(data4 < 1 || isNaN(data4)){
validate84.errors = [{instancePath:instancePath+"/chainId",schemaPath:"#/properties/chainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema201.properties.chainId,data:data4}];
return false;
}
}
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.attestation !== undefined){
let data5 = data.attestation;
const _errs10 = errors;
const _errs11 = errors;
if(errors === _errs11){
if(data5 && typeof data5 == "object" && !Array.isArray(data5)){
let missing1;
if(((((((((((data5.uid === undefined) && (missing1 = "uid")) || ((data5.schema === undefined) && (missing1 = "schema"))) || ((data5.attester === undefined) && (missing1 = "attester"))) || ((data5.recipient === undefined) && (missing1 = "recipient"))) || ((data5.data === undefined) && (missing1 = "data"))) || ((data5.revocable === undefined) && (missing1 = "revocable"))) || ((data5.refUID === undefined) && (missing1 = "refUID"))) || ((data5.time === undefined) && (missing1 = "time"))) || ((data5.expirationTime === undefined) && (missing1 = "expirationTime"))) || ((data5.revocationTime === undefined) && (missing1 = "revocationTime"))){
validate84.errors = [{instancePath:instancePath+"/attestation",schemaPath:"#/$defs/ProofAttestation/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'",schema:schema206.required,parentSchema:schema206,data:data5}];
return false;
}
else {
if(data5.uid !== undefined){
let data6 = data5.uid;
const _errs13 = errors;
if(errors === _errs13){
if(typeof data6 === "string"){
if(!pattern0.test(data6)){
validate84.errors = [{instancePath:instancePath+"/attestation/uid",schemaPath:"#/$defs/ProofAttestation/properties/uid/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema206.properties.uid,data:data6}];
return false;
}
}
else {
validate84.errors = [{instancePath:instancePath+"/attestation/uid",schemaPath:"#/$defs/ProofAttestation/properties/uid/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema206.properties.uid.type,parentSchema:schema206.properties.uid,data:data6}];
return false;
}
}
var valid2 = _errs13 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data5.schema !== undefined){
let data7 = data5.schema;
const _errs15 = errors;
if(errors === _errs15){
if(typeof data7 === "string"){
if(!pattern0.test(data7)){
validate84.errors = [{instancePath:instancePath+"/attestation/schema",schemaPath:"#/$defs/ProofAttestation/properties/schema/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema206.properties.schema,data:data7}];
return false;
}
}
else {
validate84.errors = [{instancePath:instancePath+"/attestation/schema",schemaPath:"#/$defs/ProofAttestation/properties/schema/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema206.properties.schema.type,parentSchema:schema206.properties.schema,data:data7}];
return false;
}
}
var valid2 = _errs15 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data5.attester !== undefined){
let data8 = data5.attester;
const _errs17 = errors;
if(errors === _errs17){
if(typeof data8 === "string"){
if(!pattern1.test(data8)){
validate84.errors = [{instancePath:instancePath+"/attestation/attester",schemaPath:"#/$defs/ProofAttestation/properties/attester/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema206.properties.attester,data:data8}];
return false;
}
}
else {
validate84.errors = [{instancePath:instancePath+"/attestation/attester",schemaPath:"#/$defs/ProofAttestation/properties/attester/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema206.properties.attester.type,parentSchema:schema206.properties.attester,data:data8}];
return false;
}
}
var valid2 = _errs17 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data5.recipient !== undefined){
let data9 = data5.recipient;
const _errs19 = errors;
if(errors === _errs19){
if(typeof data9 === "string"){
if(!pattern1.test(data9)){
validate84.errors = [{instancePath:instancePath+"/attestation/recipient",schemaPath:"#/$defs/ProofAttestation/properties/recipient/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema206.properties.recipient,data:data9}];
return false;
}
}
else {
validate84.errors = [{instancePath:instancePath+"/attestation/recipient",schemaPath:"#/$defs/ProofAttestation/properties/recipient/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema206.properties.recipient.type,parentSchema:schema206.properties.recipient,data:data9}];
return false;
}
}
var valid2 = _errs19 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data5.data !== undefined){
let data10 = data5.data;
const _errs21 = errors;
if(errors === _errs21){
if(typeof data10 === "string"){
if(func0(data10) > 4096){
validate84.errors = [{instancePath:instancePath+"/attestation/data",schemaPath:"#/$defs/ProofAttestation/properties/data/maxLength",keyword:"maxLength",params:{limit: 4096},message:"must NOT have more than 4096 characters",schema:4096,parentSchema:schema206.properties.data,data:data10}];
return false;
}
else {
if(!pattern61.test(data10)){
validate84.errors = [{instancePath:instancePath+"/attestation/data",schemaPath:"#/$defs/ProofAttestation/properties/data/pattern",keyword:"pattern",params:{pattern: "^0x([0-9a-fA-F]{64})+$"},message:"must match pattern \""+"^0x([0-9a-fA-F]{64})+$"+"\"",schema:"^0x([0-9a-fA-F]{64})+$",parentSchema:schema206.properties.data,data:data10}];
return false;
}
}
}
else {
validate84.errors = [{instancePath:instancePath+"/attestation/data",schemaPath:"#/$defs/ProofAttestation/properties/data/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema206.properties.data.type,parentSchema:schema206.properties.data,data:data10}];
return false;
}
}
var valid2 = _errs21 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data5.revocable !== undefined){
let data11 = data5.revocable;
const _errs23 = errors;
if(typeof data11 !== "boolean"){
validate84.errors = [{instancePath:instancePath+"/attestation/revocable",schemaPath:"#/$defs/ProofAttestation/properties/revocable/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema206.properties.revocable.type,parentSchema:schema206.properties.revocable,data:data11}];
return false;
}
var valid2 = _errs23 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data5.refUID !== undefined){
let data12 = data5.refUID;
const _errs25 = errors;
if(errors === _errs25){
if(typeof data12 === "string"){
if(!pattern0.test(data12)){
validate84.errors = [{instancePath:instancePath+"/attestation/refUID",schemaPath:"#/$defs/ProofAttestation/properties/refUID/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema206.properties.refUID,data:data12}];
return false;
}
}
else {
validate84.errors = [{instancePath:instancePath+"/attestation/refUID",schemaPath:"#/$defs/ProofAttestation/properties/refUID/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema206.properties.refUID.type,parentSchema:schema206.properties.refUID,data:data12}];
return false;
}
}
var valid2 = _errs25 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data5.time !== undefined){
let data13 = data5.time;
const _errs27 = errors;
if(!(((typeof data13 == "number") && (!(data13 % 1) && !isNaN(data13))) && (isFinite(data13)))){
validate84.errors = [{instancePath:instancePath+"/attestation/time",schemaPath:"#/$defs/ProofAttestation/properties/time/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema206.properties.time.type,parentSchema:schema206.properties.time,data:data13}];
return false;
}
if(errors === _errs27){
if((typeof data13 == "number") && (isFinite(data13))){
if(data13 > 281474976710655 || isNaN(data13)){
validate84.errors = [{instancePath:instancePath+"/attestation/time",schemaPath:"#/$defs/ProofAttestation/properties/time/maximum",keyword:"maximum",params:{comparison: "<=", limit: 281474976710655},message:"must be <= 281474976710655",schema:281474976710655,parentSchema:schema206.properties.time,data:data13}];
return false;
}
else {
if(data13 < 0 || isNaN(data13)){
validate84.errors = [{instancePath:instancePath+"/attestation/time",schemaPath:"#/$defs/ProofAttestation/properties/time/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema206.properties.time,data:data13}];
return false;
}
}
}
}
var valid2 = _errs27 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data5.expirationTime !== undefined){
let data14 = data5.expirationTime;
const _errs29 = errors;
if(!(((typeof data14 == "number") && (!(data14 % 1) && !isNaN(data14))) && (isFinite(data14)))){
validate84.errors = [{instancePath:instancePath+"/attestation/expirationTime",schemaPath:"#/$defs/ProofAttestation/properties/expirationTime/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema206.properties.expirationTime.type,parentSchema:schema206.properties.expirationTime,data:data14}];
return false;
}
if(errors === _errs29){
if((typeof data14 == "number") && (isFinite(data14))){
if(data14 > 281474976710655 || isNaN(data14)){
validate84.errors = [{instancePath:instancePath+"/attestation/expirationTime",schemaPath:"#/$defs/ProofAttestation/properties/expirationTime/maximum",keyword:"maximum",params:{comparison: "<=", limit: 281474976710655},message:"must be <= 281474976710655",schema:281474976710655,parentSchema:schema206.properties.expirationTime,data:data14}];
return false;
}
else {
if(data14 < 0 || isNaN(data14)){
validate84.errors = [{instancePath:instancePath+"/attestation/expirationTime",schemaPath:"#/$defs/ProofAttestation/properties/expirationTime/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema206.properties.expirationTime,data:data14}];
return false;
}
}
}
}
var valid2 = _errs29 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data5.revocationTime !== undefined){
let data15 = data5.revocationTime;
const _errs31 = errors;
if(!(((typeof data15 == "number") && (!(data15 % 1) && !isNaN(data15))) && (isFinite(data15)))){
validate84.errors = [{instancePath:instancePath+"/attestation/revocationTime",schemaPath:"#/$defs/ProofAttestation/properties/revocationTime/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema206.properties.revocationTime.type,parentSchema:schema206.properties.revocationTime,data:data15}];
return false;
}
if(errors === _errs31){
if((typeof data15 == "number") && (isFinite(data15))){
if(data15 > 281474976710655 || isNaN(data15)){
validate84.errors = [{instancePath:instancePath+"/attestation/revocationTime",schemaPath:"#/$defs/ProofAttestation/properties/revocationTime/maximum",keyword:"maximum",params:{comparison: "<=", limit: 281474976710655},message:"must be <= 281474976710655",schema:281474976710655,parentSchema:schema206.properties.revocationTime,data:data15}];
return false;
}
else {
if(data15 < 0 || isNaN(data15)){
validate84.errors = [{instancePath:instancePath+"/attestation/revocationTime",schemaPath:"#/$defs/ProofAttestation/properties/revocationTime/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema206.properties.revocationTime,data:data15}];
return false;
}
}
}
}
var valid2 = _errs31 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data5.signature !== undefined){
let data16 = data5.signature;
const _errs33 = errors;
if(typeof data16 !== "string"){
validate84.errors = [{instancePath:instancePath+"/attestation/signature",schemaPath:"#/$defs/ProofAttestation/properties/signature/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema206.properties.signature.type,parentSchema:schema206.properties.signature,data:data16}];
return false;
}
var valid2 = _errs33 === errors;
}
else {
var valid2 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate84.errors = [{instancePath:instancePath+"/attestation",schemaPath:"#/$defs/ProofAttestation/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema206.type,parentSchema:schema206,data:data5}];
return false;
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.delegatedAttestation !== undefined){
let data17 = data.delegatedAttestation;
const _errs35 = errors;
const _errs36 = errors;
if(errors === _errs36){
if(data17 && typeof data17 == "object" && !Array.isArray(data17)){
let missing2;
if(((((data17.signature === undefined) && (missing2 = "signature")) || ((data17.attester === undefined) && (missing2 = "attester"))) || ((data17.deadline === undefined) && (missing2 = "deadline"))) || ((data17.nonce === undefined) && (missing2 = "nonce"))){
validate84.errors = [{instancePath:instancePath+"/delegatedAttestation",schemaPath:"#/$defs/ProofDelegation/required",keyword:"required",params:{missingProperty: missing2},message:"must have required property '"+missing2+"'",schema:schema207.required,parentSchema:schema207,data:data17}];
return false;
}
else {
if(data17.signature !== undefined){
let data18 = data17.signature;
const _errs38 = errors;
if(errors === _errs38){
if(typeof data18 === "string"){
if(!pattern51.test(data18)){
validate84.errors = [{instancePath:instancePath+"/delegatedAttestation/signature",schemaPath:"#/$defs/ProofDelegation/properties/signature/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{130}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{130}$"+"\"",schema:"^0x[0-9a-fA-F]{130}$",parentSchema:schema207.properties.signature,data:data18}];
return false;
}
}
else {
validate84.errors = [{instancePath:instancePath+"/delegatedAttestation/signature",schemaPath:"#/$defs/ProofDelegation/properties/signature/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema207.properties.signature.type,parentSchema:schema207.properties.signature,data:data18}];
return false;
}
}
var valid4 = _errs38 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data17.attester !== undefined){
let data19 = data17.attester;
const _errs40 = errors;
if(errors === _errs40){
if(typeof data19 === "string"){
if(!pattern1.test(data19)){
validate84.errors = [{instancePath:instancePath+"/delegatedAttestation/attester",schemaPath:"#/$defs/ProofDelegation/properties/attester/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema207.properties.attester,data:data19}];
return false;
}
}
else {
validate84.errors = [{instancePath:instancePath+"/delegatedAttestation/attester",schemaPath:"#/$defs/ProofDelegation/properties/attester/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema207.properties.attester.type,parentSchema:schema207.properties.attester,data:data19}];
return false;
}
}
var valid4 = _errs40 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data17.deadline !== undefined){
let data20 = data17.deadline;
const _errs42 = errors;
if(!(((typeof data20 == "number") && (!(data20 % 1) && !isNaN(data20))) && (isFinite(data20)))){
validate84.errors = [{instancePath:instancePath+"/delegatedAttestation/deadline",schemaPath:"#/$defs/ProofDelegation/properties/deadline/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema207.properties.deadline.type,parentSchema:schema207.properties.deadline,data:data20}];
return false;
}
if(errors === _errs42){
if((typeof data20 == "number") && (isFinite(data20))){
if(data20 > 281474976710655 || isNaN(data20)){
validate84.errors = [{instancePath:instancePath+"/delegatedAttestation/deadline",schemaPath:"#/$defs/ProofDelegation/properties/deadline/maximum",keyword:"maximum",params:{comparison: "<=", limit: 281474976710655},message:"must be <= 281474976710655",schema:281474976710655,parentSchema:schema207.properties.deadline,data:data20}];
return false;
}
else {
if(data20 < 0 || isNaN(data20)){
validate84.errors = [{instancePath:instancePath+"/delegatedAttestation/deadline",schemaPath:"#/$defs/ProofDelegation/properties/deadline/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema207.properties.deadline,data:data20}];
return false;
}
}
}
}
var valid4 = _errs42 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data17.nonce !== undefined){
let data21 = data17.nonce;
const _errs44 = errors;
if(!(((typeof data21 == "number") && (!(data21 % 1) && !isNaN(data21))) && (isFinite(data21)))){
validate84.errors = [{instancePath:instancePath+"/delegatedAttestation/nonce",schemaPath:"#/$defs/ProofDelegation/properties/nonce/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema207.properties.nonce.type,parentSchema:schema207.properties.nonce,data:data21}];
return false;
}
if(errors === _errs44){
if((typeof data21 == "number") && (isFinite(data21))){
if(data21 > 281474976710655 || isNaN(data21)){
validate84.errors = [{instancePath:instancePath+"/delegatedAttestation/nonce",schemaPath:"#/$defs/ProofDelegation/properties/nonce/maximum",keyword:"maximum",params:{comparison: "<=", limit: 281474976710655},message:"must be <= 281474976710655",schema:281474976710655,parentSchema:schema207.properties.nonce,data:data21}];
return false;
}
else {
if(data21 < 0 || isNaN(data21)){
validate84.errors = [{instancePath:instancePath+"/delegatedAttestation/nonce",schemaPath:"#/$defs/ProofDelegation/properties/nonce/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema207.properties.nonce,data:data21}];
return false;
}
}
}
}
var valid4 = _errs44 === errors;
}
else {
var valid4 = true;
}
}
}
}
}
}
else {
validate84.errors = [{instancePath:instancePath+"/delegatedAttestation",schemaPath:"#/$defs/ProofDelegation/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema207.type,parentSchema:schema207,data:data17}];
return false;
}
}
var valid0 = _errs35 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
else {
validate84.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema201.type,parentSchema:schema201,data}];
return false;
}
}
validate84.errors = vErrors;
return errors === 0;
}
validate84.evaluated = {"props":{"proof":true,"credibility":true,"evaluationMethod":true,"evaluatedAt":true,"chainId":true,"attestation":true,"delegatedAttestation":true},"dynamicProps":false,"dynamicItems":false};

const check29 = validate89;
const schema208 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"resign-request.schema.json","title":"ResignRequest","description":"Body of POST /compute/v0/resign: two unchanged members of a compute response, and the chain that it was signed for. Unknown members are ignored.","type":"object","required":["attestation","delegatedAttestation","chainId"],"properties":{"attestation":{"$ref":"#/$defs/SignedAttestationData"},"delegatedAttestation":{"$ref":"verified-proof.schema.json#/$defs/ProofDelegation"},"chainId":{"$ref":"compute-request.schema.json#/$defs/ChainId"}},"$defs":{"SignedAttestationData":{"title":"SignedAttestationData","type":"object","required":["schema","attester","recipient","data","revocable","refUID"],"properties":{"schema":{"type":"string","pattern":"^0x[0-9a-fA-F]{64}$"},"attester":{"type":"string","pattern":"^0x[0-9a-fA-F]{40}$"},"recipient":{"type":"string","pattern":"^0x[0-9a-fA-F]{40}$"},"data":{"type":"string","pattern":"^0x([0-9a-fA-F]{64})+$","maxLength":4098},"revocable":{"type":"boolean"},"refUID":{"type":"string","pattern":"^0x[0-9a-fA-F]{64}$"},"signature":{"type":"string"}}}}};
const schema209 = {"title":"SignedAttestationData","type":"object","required":["schema","attester","recipient","data","revocable","refUID"],"properties":{"schema":{"type":"string","pattern":"^0x[0-9a-fA-F]{64}$"},"attester":{"type":"string","pattern":"^0x[0-9a-fA-F]{40}$"},"recipient":{"type":"string","pattern":"^0x[0-9a-fA-F]{40}$"},"data":{"type":"string","pattern":"^0x([0-9a-fA-F]{64})+$","maxLength":4098},"revocable":{"type":"boolean"},"refUID":{"type":"string","pattern":"^0x[0-9a-fA-F]{64}$"},"signature":{"type":"string"}}};

function validate89(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="resign-request.schema.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate89.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.attestation === undefined) && (missing0 = "attestation")) || ((data.delegatedAttestation === undefined) && (missing0 = "delegatedAttestation"))) || ((data.chainId === undefined) && (missing0 = "chainId"))){
validate89.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema208.required,parentSchema:schema208,data}];
return false;
}
else {
if(data.attestation !== undefined){
let data0 = data.attestation;
const _errs1 = errors;
const _errs2 = errors;
if(errors === _errs2){
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
let missing1;
if(((((((data0.schema === undefined) && (missing1 = "schema")) || ((data0.attester === undefined) && (missing1 = "attester"))) || ((data0.recipient === undefined) && (missing1 = "recipient"))) || ((data0.data === undefined) && (missing1 = "data"))) || ((data0.revocable === undefined) && (missing1 = "revocable"))) || ((data0.refUID === undefined) && (missing1 = "refUID"))){
validate89.errors = [{instancePath:instancePath+"/attestation",schemaPath:"#/$defs/SignedAttestationData/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'",schema:schema209.required,parentSchema:schema209,data:data0}];
return false;
}
else {
if(data0.schema !== undefined){
let data1 = data0.schema;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(!pattern0.test(data1)){
validate89.errors = [{instancePath:instancePath+"/attestation/schema",schemaPath:"#/$defs/SignedAttestationData/properties/schema/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema209.properties.schema,data:data1}];
return false;
}
}
else {
validate89.errors = [{instancePath:instancePath+"/attestation/schema",schemaPath:"#/$defs/SignedAttestationData/properties/schema/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema209.properties.schema.type,parentSchema:schema209.properties.schema,data:data1}];
return false;
}
}
var valid2 = _errs4 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data0.attester !== undefined){
let data2 = data0.attester;
const _errs6 = errors;
if(errors === _errs6){
if(typeof data2 === "string"){
if(!pattern1.test(data2)){
validate89.errors = [{instancePath:instancePath+"/attestation/attester",schemaPath:"#/$defs/SignedAttestationData/properties/attester/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema209.properties.attester,data:data2}];
return false;
}
}
else {
validate89.errors = [{instancePath:instancePath+"/attestation/attester",schemaPath:"#/$defs/SignedAttestationData/properties/attester/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema209.properties.attester.type,parentSchema:schema209.properties.attester,data:data2}];
return false;
}
}
var valid2 = _errs6 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data0.recipient !== undefined){
let data3 = data0.recipient;
const _errs8 = errors;
if(errors === _errs8){
if(typeof data3 === "string"){
if(!pattern1.test(data3)){
validate89.errors = [{instancePath:instancePath+"/attestation/recipient",schemaPath:"#/$defs/SignedAttestationData/properties/recipient/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema209.properties.recipient,data:data3}];
return false;
}
}
else {
validate89.errors = [{instancePath:instancePath+"/attestation/recipient",schemaPath:"#/$defs/SignedAttestationData/properties/recipient/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema209.properties.recipient.type,parentSchema:schema209.properties.recipient,data:data3}];
return false;
}
}
var valid2 = _errs8 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data0.data !== undefined){
let data4 = data0.data;
const _errs10 = errors;
if(errors === _errs10){
if(typeof data4 === "string"){
if(func0(data4) > 4098){
validate89.errors = [{instancePath:instancePath+"/attestation/data",schemaPath:"#/$defs/SignedAttestationData/properties/data/maxLength",keyword:"maxLength",params:{limit: 4098},message:"must NOT have more than 4098 characters",schema:4098,parentSchema:schema209.properties.data,data:data4}];
return false;
}
else {
if(!pattern61.test(data4)){
validate89.errors = [{instancePath:instancePath+"/attestation/data",schemaPath:"#/$defs/SignedAttestationData/properties/data/pattern",keyword:"pattern",params:{pattern: "^0x([0-9a-fA-F]{64})+$"},message:"must match pattern \""+"^0x([0-9a-fA-F]{64})+$"+"\"",schema:"^0x([0-9a-fA-F]{64})+$",parentSchema:schema209.properties.data,data:data4}];
return false;
}
}
}
else {
validate89.errors = [{instancePath:instancePath+"/attestation/data",schemaPath:"#/$defs/SignedAttestationData/properties/data/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema209.properties.data.type,parentSchema:schema209.properties.data,data:data4}];
return false;
}
}
var valid2 = _errs10 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data0.revocable !== undefined){
let data5 = data0.revocable;
const _errs12 = errors;
if(typeof data5 !== "boolean"){
validate89.errors = [{instancePath:instancePath+"/attestation/revocable",schemaPath:"#/$defs/SignedAttestationData/properties/revocable/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema209.properties.revocable.type,parentSchema:schema209.properties.revocable,data:data5}];
return false;
}
var valid2 = _errs12 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data0.refUID !== undefined){
let data6 = data0.refUID;
const _errs14 = errors;
if(errors === _errs14){
if(typeof data6 === "string"){
if(!pattern0.test(data6)){
validate89.errors = [{instancePath:instancePath+"/attestation/refUID",schemaPath:"#/$defs/SignedAttestationData/properties/refUID/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema209.properties.refUID,data:data6}];
return false;
}
}
else {
validate89.errors = [{instancePath:instancePath+"/attestation/refUID",schemaPath:"#/$defs/SignedAttestationData/properties/refUID/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema209.properties.refUID.type,parentSchema:schema209.properties.refUID,data:data6}];
return false;
}
}
var valid2 = _errs14 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data0.signature !== undefined){
let data7 = data0.signature;
const _errs16 = errors;
if(typeof data7 !== "string"){
validate89.errors = [{instancePath:instancePath+"/attestation/signature",schemaPath:"#/$defs/SignedAttestationData/properties/signature/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema209.properties.signature.type,parentSchema:schema209.properties.signature,data:data7}];
return false;
}
var valid2 = _errs16 === errors;
}
else {
var valid2 = true;
}
}
}
}
}
}
}
}
}
else {
validate89.errors = [{instancePath:instancePath+"/attestation",schemaPath:"#/$defs/SignedAttestationData/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema209.type,parentSchema:schema209,data:data0}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.delegatedAttestation !== undefined){
let data8 = data.delegatedAttestation;
const _errs18 = errors;
const _errs19 = errors;
if(errors === _errs19){
if(data8 && typeof data8 == "object" && !Array.isArray(data8)){
let missing2;
if(((((data8.signature === undefined) && (missing2 = "signature")) || ((data8.attester === undefined) && (missing2 = "attester"))) || ((data8.deadline === undefined) && (missing2 = "deadline"))) || ((data8.nonce === undefined) && (missing2 = "nonce"))){
validate89.errors = [{instancePath:instancePath+"/delegatedAttestation",schemaPath:"verified-proof.schema.json#/$defs/ProofDelegation/required",keyword:"required",params:{missingProperty: missing2},message:"must have required property '"+missing2+"'",schema:schema207.required,parentSchema:schema207,data:data8}];
return false;
}
else {
if(data8.signature !== undefined){
let data9 = data8.signature;
const _errs21 = errors;
if(errors === _errs21){
if(typeof data9 === "string"){
if(!pattern51.test(data9)){
validate89.errors = [{instancePath:instancePath+"/delegatedAttestation/signature",schemaPath:"verified-proof.schema.json#/$defs/ProofDelegation/properties/signature/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{130}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{130}$"+"\"",schema:"^0x[0-9a-fA-F]{130}$",parentSchema:schema207.properties.signature,data:data9}];
return false;
}
}
else {
validate89.errors = [{instancePath:instancePath+"/delegatedAttestation/signature",schemaPath:"verified-proof.schema.json#/$defs/ProofDelegation/properties/signature/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema207.properties.signature.type,parentSchema:schema207.properties.signature,data:data9}];
return false;
}
}
var valid4 = _errs21 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data8.attester !== undefined){
let data10 = data8.attester;
const _errs23 = errors;
if(errors === _errs23){
if(typeof data10 === "string"){
if(!pattern1.test(data10)){
validate89.errors = [{instancePath:instancePath+"/delegatedAttestation/attester",schemaPath:"verified-proof.schema.json#/$defs/ProofDelegation/properties/attester/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema207.properties.attester,data:data10}];
return false;
}
}
else {
validate89.errors = [{instancePath:instancePath+"/delegatedAttestation/attester",schemaPath:"verified-proof.schema.json#/$defs/ProofDelegation/properties/attester/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema207.properties.attester.type,parentSchema:schema207.properties.attester,data:data10}];
return false;
}
}
var valid4 = _errs23 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data8.deadline !== undefined){
let data11 = data8.deadline;
const _errs25 = errors;
if(!(((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11))) && (isFinite(data11)))){
validate89.errors = [{instancePath:instancePath+"/delegatedAttestation/deadline",schemaPath:"verified-proof.schema.json#/$defs/ProofDelegation/properties/deadline/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema207.properties.deadline.type,parentSchema:schema207.properties.deadline,data:data11}];
return false;
}
if(errors === _errs25){
if((typeof data11 == "number") && (isFinite(data11))){
if(data11 > 281474976710655 || isNaN(data11)){
validate89.errors = [{instancePath:instancePath+"/delegatedAttestation/deadline",schemaPath:"verified-proof.schema.json#/$defs/ProofDelegation/properties/deadline/maximum",keyword:"maximum",params:{comparison: "<=", limit: 281474976710655},message:"must be <= 281474976710655",schema:281474976710655,parentSchema:schema207.properties.deadline,data:data11}];
return false;
}
else {
if(data11 < 0 || isNaN(data11)){
validate89.errors = [{instancePath:instancePath+"/delegatedAttestation/deadline",schemaPath:"verified-proof.schema.json#/$defs/ProofDelegation/properties/deadline/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema207.properties.deadline,data:data11}];
return false;
}
}
}
}
var valid4 = _errs25 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data8.nonce !== undefined){
let data12 = data8.nonce;
const _errs27 = errors;
if(!(((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12))) && (isFinite(data12)))){
validate89.errors = [{instancePath:instancePath+"/delegatedAttestation/nonce",schemaPath:"verified-proof.schema.json#/$defs/ProofDelegation/properties/nonce/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema207.properties.nonce.type,parentSchema:schema207.properties.nonce,data:data12}];
return false;
}
if(errors === _errs27){
if((typeof data12 == "number") && (isFinite(data12))){
if(data12 > 281474976710655 || isNaN(data12)){
validate89.errors = [{instancePath:instancePath+"/delegatedAttestation/nonce",schemaPath:"verified-proof.schema.json#/$defs/ProofDelegation/properties/nonce/maximum",keyword:"maximum",params:{comparison: "<=", limit: 281474976710655},message:"must be <= 281474976710655",schema:281474976710655,parentSchema:schema207.properties.nonce,data:data12}];
return false;
}
else {
if(data12 < 0 || isNaN(data12)){
validate89.errors = [{instancePath:instancePath+"/delegatedAttestation/nonce",schemaPath:"verified-proof.schema.json#/$defs/ProofDelegation/properties/nonce/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema207.properties.nonce,data:data12}];
return false;
}
}
}
}
var valid4 = _errs27 === errors;
}
else {
var valid4 = true;
}
}
}
}
}
}
else {
validate89.errors = [{instancePath:instancePath+"/delegatedAttestation",schemaPath:"verified-proof.schema.json#/$defs/ProofDelegation/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema207.type,parentSchema:schema207,data:data8}];
return false;
}
}
var valid0 = _errs18 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.chainId !== undefined){
let data13 = data.chainId;
const _errs29 = errors;
const _errs30 = errors;
if(!(((typeof data13 == "number") && (!(data13 % 1) && !isNaN(data13))) && (isFinite(data13)))){
validate89.errors = [{instancePath:instancePath+"/chainId",schemaPath:"compute-request.schema.json#/$defs/ChainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema3.type,parentSchema:schema3,data:data13}];
return false;
}
if(errors === _errs30){
if((typeof data13 == "number") && (isFinite(data13))){
if(data13 > 9007199254740991 || isNaN(data13)){
validate89.errors = [{instancePath:instancePath+"/chainId",schemaPath:"compute-request.schema.json#/$defs/ChainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema3,data:data13}];
return false;
}
else {
if(data13 < 1 || isNaN(data13)){
validate89.errors = [{instancePath:instancePath+"/chainId",schemaPath:"compute-request.schema.json#/$defs/ChainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema3,data:data13}];
return false;
}
}
}
}
var valid0 = _errs29 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate89.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema208.type,parentSchema:schema208,data}];
return false;
}
}
validate89.errors = vErrors;
return errors === 0;
}
validate89.evaluated = {"props":{"attestation":true,"delegatedAttestation":true,"chainId":true},"dynamicProps":false,"dynamicItems":false};

const check30 = validate91;
const schema216 = {"title":"KeyRequest","description":"Properties of a new API key.","type":"object","additionalProperties":false,"required":["tier"],"properties":{"tier":{"description":"Sets the hourly limits.","enum":["developer","internal"]},"label":{"description":"Such as the owner of the key.","type":"string","minLength":1,"maxLength":200},"scopes":{"$ref":"#/$defs/KeyScopes"},"expiresAt":{"description":"ISO 8601, in the future. Without it, the key is valid until it is revoked.","type":"string","maxLength":40},"requestsPerHour":{"description":"Replaces the hourly limit of the tier.","type":"integer","minimum":1,"maximum":1000000000},"origins":{"description":"The key is valid only in requests of pages of these origins, such as https://example.org.","type":"array","minItems":1,"maxItems":32,"items":{"type":"string","maxLength":300}},"addresses":{"description":"The key is valid only in requests from these IP addresses or CIDR ranges.","type":"array","minItems":1,"maxItems":32,"items":{"type":"string","maxLength":60}}}};
const schema214 = {"title":"KeyScopes","description":"What the key may be used for. admin opens the routes of keys, and nothing else.","type":"array","minItems":1,"items":{"enum":["compute","verify","records","jobs","admin"]}};

function validate91(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate91.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.tier === undefined) && (missing0 = "tier")){
validate91.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema216.required,parentSchema:schema216,data}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!(((((((key0 === "tier") || (key0 === "label")) || (key0 === "scopes")) || (key0 === "expiresAt")) || (key0 === "requestsPerHour")) || (key0 === "origins")) || (key0 === "addresses"))){
validate91.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema216,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.tier !== undefined){
let data0 = data.tier;
const _errs2 = errors;
if(!((data0 === "developer") || (data0 === "internal"))){
validate91.errors = [{instancePath:instancePath+"/tier",schemaPath:"#/properties/tier/enum",keyword:"enum",params:{allowedValues: schema216.properties.tier.enum},message:"must be equal to one of the allowed values",schema:schema216.properties.tier.enum,parentSchema:schema216.properties.tier,data:data0}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.label !== undefined){
let data1 = data.label;
const _errs3 = errors;
if(errors === _errs3){
if(typeof data1 === "string"){
if(func0(data1) > 200){
validate91.errors = [{instancePath:instancePath+"/label",schemaPath:"#/properties/label/maxLength",keyword:"maxLength",params:{limit: 200},message:"must NOT have more than 200 characters",schema:200,parentSchema:schema216.properties.label,data:data1}];
return false;
}
else {
if(func0(data1) < 1){
validate91.errors = [{instancePath:instancePath+"/label",schemaPath:"#/properties/label/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema216.properties.label,data:data1}];
return false;
}
}
}
else {
validate91.errors = [{instancePath:instancePath+"/label",schemaPath:"#/properties/label/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema216.properties.label.type,parentSchema:schema216.properties.label,data:data1}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.scopes !== undefined){
let data2 = data.scopes;
const _errs5 = errors;
const _errs6 = errors;
if(errors === _errs6){
if(Array.isArray(data2)){
if(data2.length < 1){
validate91.errors = [{instancePath:instancePath+"/scopes",schemaPath:"#/$defs/KeyScopes/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema214,data:data2}];
return false;
}
else {
var valid2 = true;
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
let data3 = data2[i0];
const _errs8 = errors;
if(!(((((data3 === "compute") || (data3 === "verify")) || (data3 === "records")) || (data3 === "jobs")) || (data3 === "admin"))){
validate91.errors = [{instancePath:instancePath+"/scopes/" + i0,schemaPath:"#/$defs/KeyScopes/items/enum",keyword:"enum",params:{allowedValues: schema214.items.enum},message:"must be equal to one of the allowed values",schema:schema214.items.enum,parentSchema:schema214.items,data:data3}];
return false;
}
var valid2 = _errs8 === errors;
if(!valid2){
break;
}
}
}
}
else {
validate91.errors = [{instancePath:instancePath+"/scopes",schemaPath:"#/$defs/KeyScopes/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema214.type,parentSchema:schema214,data:data2}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.expiresAt !== undefined){
let data4 = data.expiresAt;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data4 === "string"){
if(func0(data4) > 40){
validate91.errors = [{instancePath:instancePath+"/expiresAt",schemaPath:"#/properties/expiresAt/maxLength",keyword:"maxLength",params:{limit: 40},message:"must NOT have more than 40 characters",schema:40,parentSchema:schema216.properties.expiresAt,data:data4}];
return false;
}
}
else {
validate91.errors = [{instancePath:instancePath+"/expiresAt",schemaPath:"#/properties/expiresAt/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema216.properties.expiresAt.type,parentSchema:schema216.properties.expiresAt,data:data4}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.requestsPerHour !== undefined){
let data5 = data.requestsPerHour;
const _errs11 = errors;
if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){
validate91.errors = [{instancePath:instancePath+"/requestsPerHour",schemaPath:"#/properties/requestsPerHour/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema216.properties.requestsPerHour.type,parentSchema:schema216.properties.requestsPerHour,data:data5}];
return false;
}
if(errors === _errs11){
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 > 1000000000 || isNaN(data5)){
validate91.errors = [{instancePath:instancePath+"/requestsPerHour",schemaPath:"#/properties/requestsPerHour/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000000},message:"must be <= 1000000000",schema:1000000000,parentSchema:schema216.properties.requestsPerHour,data:data5}];
return false;
}
else {
if(data5 < 1 || isNaN(data5)){
validate91.errors = [{instancePath:instancePath+"/requestsPerHour",schemaPath:"#/properties/requestsPerHour/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema216.properties.requestsPerHour,data:data5}];
return false;
}
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.origins !== undefined){
let data6 = data.origins;
const _errs13 = errors;
if(errors === _errs13){
if(Array.isArray(data6)){
if(data6.length > 32){
validate91.errors = [{instancePath:instancePath+"/origins",schemaPath:"#/properties/origins/maxItems",keyword:"maxItems",params:{limit: 32},message:"must NOT have more than 32 items",schema:32,parentSchema:schema216.properties.origins,data:data6}];
return false;
}
else {
if(data6.length < 1){
validate91.errors = [{instancePath:instancePath+"/origins",schemaPath:"#/properties/origins/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema216.properties.origins,data:data6}];
return false;
}
else {
var valid3 = true;
const len1 = data6.length;
for(let i1=0; i1<len1; i1++){
let data7 = data6[i1];
const _errs15 = errors;
if(errors === _errs15){
if(typeof data7 === "string"){
if(func0(data7) > 300){
validate91.errors = [{instancePath:instancePath+"/origins/" + i1,schemaPath:"#/properties/origins/items/maxLength",keyword:"maxLength",params:{limit: 300},message:"must NOT have more than 300 characters",schema:300,parentSchema:schema216.properties.origins.items,data:data7}];
return false;
}
}
else {
validate91.errors = [{instancePath:instancePath+"/origins/" + i1,schemaPath:"#/properties/origins/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema216.properties.origins.items.type,parentSchema:schema216.properties.origins.items,data:data7}];
return false;
}
}
var valid3 = _errs15 === errors;
if(!valid3){
break;
}
}
}
}
}
else {
validate91.errors = [{instancePath:instancePath+"/origins",schemaPath:"#/properties/origins/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema216.properties.origins.type,parentSchema:schema216.properties.origins,data:data6}];
return false;
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.addresses !== undefined){
let data8 = data.addresses;
const _errs17 = errors;
if(errors === _errs17){
if(Array.isArray(data8)){
if(data8.length > 32){
validate91.errors = [{instancePath:instancePath+"/addresses",schemaPath:"#/properties/addresses/maxItems",keyword:"maxItems",params:{limit: 32},message:"must NOT have more than 32 items",schema:32,parentSchema:schema216.properties.addresses,data:data8}];
return false;
}
else {
if(data8.length < 1){
validate91.errors = [{instancePath:instancePath+"/addresses",schemaPath:"#/properties/addresses/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema216.properties.addresses,data:data8}];
return false;
}
else {
var valid4 = true;
const len2 = data8.length;
for(let i2=0; i2<len2; i2++){
let data9 = data8[i2];
const _errs19 = errors;
if(errors === _errs19){
if(typeof data9 === "string"){
if(func0(data9) > 60){
validate91.errors = [{instancePath:instancePath+"/addresses/" + i2,schemaPath:"#/properties/addresses/items/maxLength",keyword:"maxLength",params:{limit: 60},message:"must NOT have more than 60 characters",schema:60,parentSchema:schema216.properties.addresses.items,data:data9}];
return false;
}
}
else {
validate91.errors = [{instancePath:instancePath+"/addresses/" + i2,schemaPath:"#/properties/addresses/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema216.properties.addresses.items.type,parentSchema:schema216.properties.addresses.items,data:data9}];
return false;
}
}
var valid4 = _errs19 === errors;
if(!valid4){
break;
}
}
}
}
}
else {
validate91.errors = [{instancePath:instancePath+"/addresses",schemaPath:"#/properties/addresses/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema216.properties.addresses.type,parentSchema:schema216.properties.addresses,data:data8}];
return false;
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
else {
validate91.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema216.type,parentSchema:schema216,data}];
return false;
}
}
validate91.errors = vErrors;
return errors === 0;
}
validate91.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const check31 = validate93;
const schema219 = {"title":"SignInRequest","type":"object","additionalProperties":false,"required":["message","signature"],"properties":{"message":{"description":"The text that the wallet signed (EIP-4361), with the nonce.","type":"string","minLength":1,"maxLength":4096},"signature":{"description":"Hex: 65 bytes r, s, v of the address, or what its contract takes (ERC-1271, ERC-6492), up to 8 KiB.","type":"string","pattern":"^0x(?:[0-9a-fA-F]{2})+$","maxLength":16386},"attestation":{"description":"UID of an attestation for the address of the message, if the service gives a higher tier for one (WALLET_TIER_TOKEN).","type":"string","pattern":"^0x[0-9a-fA-F]{64}$"}}};
const pattern75 = new RegExp("^0x(?:[0-9a-fA-F]{2})+$", "u");

function validate93(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate93.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.message === undefined) && (missing0 = "message")) || ((data.signature === undefined) && (missing0 = "signature"))){
validate93.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema219.required,parentSchema:schema219,data}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!(((key0 === "message") || (key0 === "signature")) || (key0 === "attestation"))){
validate93.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema219,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.message !== undefined){
let data0 = data.message;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(func0(data0) > 4096){
validate93.errors = [{instancePath:instancePath+"/message",schemaPath:"#/properties/message/maxLength",keyword:"maxLength",params:{limit: 4096},message:"must NOT have more than 4096 characters",schema:4096,parentSchema:schema219.properties.message,data:data0}];
return false;
}
else {
if(func0(data0) < 1){
validate93.errors = [{instancePath:instancePath+"/message",schemaPath:"#/properties/message/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema219.properties.message,data:data0}];
return false;
}
}
}
else {
validate93.errors = [{instancePath:instancePath+"/message",schemaPath:"#/properties/message/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema219.properties.message.type,parentSchema:schema219.properties.message,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.signature !== undefined){
let data1 = data.signature;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(func0(data1) > 16386){
validate93.errors = [{instancePath:instancePath+"/signature",schemaPath:"#/properties/signature/maxLength",keyword:"maxLength",params:{limit: 16386},message:"must NOT have more than 16386 characters",schema:16386,parentSchema:schema219.properties.signature,data:data1}];
return false;
}
else {
if(!pattern75.test(data1)){
validate93.errors = [{instancePath:instancePath+"/signature",schemaPath:"#/properties/signature/pattern",keyword:"pattern",params:{pattern: "^0x(?:[0-9a-fA-F]{2})+$"},message:"must match pattern \""+"^0x(?:[0-9a-fA-F]{2})+$"+"\"",schema:"^0x(?:[0-9a-fA-F]{2})+$",parentSchema:schema219.properties.signature,data:data1}];
return false;
}
}
}
else {
validate93.errors = [{instancePath:instancePath+"/signature",schemaPath:"#/properties/signature/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema219.properties.signature.type,parentSchema:schema219.properties.signature,data:data1}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.attestation !== undefined){
let data2 = data.attestation;
const _errs6 = errors;
if(errors === _errs6){
if(typeof data2 === "string"){
if(!pattern0.test(data2)){
validate93.errors = [{instancePath:instancePath+"/attestation",schemaPath:"#/properties/attestation/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{64}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{64}$"+"\"",schema:"^0x[0-9a-fA-F]{64}$",parentSchema:schema219.properties.attestation,data:data2}];
return false;
}
}
else {
validate93.errors = [{instancePath:instancePath+"/attestation",schemaPath:"#/properties/attestation/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema219.properties.attestation.type,parentSchema:schema219.properties.attestation,data:data2}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate93.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema219.type,parentSchema:schema219,data}];
return false;
}
}
validate93.errors = vErrors;
return errors === 0;
}
validate93.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const check32 = validate94;
const schema220 = {"title":"RefreshRequest","type":"object","additionalProperties":false,"required":["refreshToken"],"properties":{"refreshToken":{"type":"string","maxLength":256}}};

function validate94(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate94.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.refreshToken === undefined) && (missing0 = "refreshToken")){
validate94.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema220.required,parentSchema:schema220,data}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!(key0 === "refreshToken")){
validate94.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema220,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.refreshToken !== undefined){
let data0 = data.refreshToken;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(func0(data0) > 256){
validate94.errors = [{instancePath:instancePath+"/refreshToken",schemaPath:"#/properties/refreshToken/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters",schema:256,parentSchema:schema220.properties.refreshToken,data:data0}];
return false;
}
}
else {
validate94.errors = [{instancePath:instancePath+"/refreshToken",schemaPath:"#/properties/refreshToken/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema220.properties.refreshToken.type,parentSchema:schema220.properties.refreshToken,data:data0}];
return false;
}
}
}
}
}
}
else {
validate94.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema220.type,parentSchema:schema220,data}];
return false;
}
}
validate94.errors = vErrors;
return errors === 0;
}
validate94.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const check33 = validate95;
const schema221 = {"title":"AccountKeyRequest","description":"Properties of a new API key of an account. Its tier and its limit are those of the account.","type":"object","additionalProperties":false,"properties":{"label":{"type":"string","minLength":1,"maxLength":200},"scopes":{"type":"array","minItems":1,"items":{"enum":["compute","verify","records","jobs"]}},"expiresAt":{"description":"ISO 8601, in the future. Without it, the key is valid until it is revoked.","type":"string","maxLength":40},"origins":{"type":"array","minItems":1,"maxItems":32,"items":{"type":"string","maxLength":300}},"addresses":{"type":"array","minItems":1,"maxItems":32,"items":{"type":"string","maxLength":60}}}};

function validate95(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate95.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const _errs1 = errors;
for(const key0 in data){
if(!(((((key0 === "label") || (key0 === "scopes")) || (key0 === "expiresAt")) || (key0 === "origins")) || (key0 === "addresses"))){
validate95.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema221,data}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.label !== undefined){
let data0 = data.label;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data0 === "string"){
if(func0(data0) > 200){
validate95.errors = [{instancePath:instancePath+"/label",schemaPath:"#/properties/label/maxLength",keyword:"maxLength",params:{limit: 200},message:"must NOT have more than 200 characters",schema:200,parentSchema:schema221.properties.label,data:data0}];
return false;
}
else {
if(func0(data0) < 1){
validate95.errors = [{instancePath:instancePath+"/label",schemaPath:"#/properties/label/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema221.properties.label,data:data0}];
return false;
}
}
}
else {
validate95.errors = [{instancePath:instancePath+"/label",schemaPath:"#/properties/label/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema221.properties.label.type,parentSchema:schema221.properties.label,data:data0}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.scopes !== undefined){
let data1 = data.scopes;
const _errs4 = errors;
if(errors === _errs4){
if(Array.isArray(data1)){
if(data1.length < 1){
validate95.errors = [{instancePath:instancePath+"/scopes",schemaPath:"#/properties/scopes/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema221.properties.scopes,data:data1}];
return false;
}
else {
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
const _errs6 = errors;
if(!((((data2 === "compute") || (data2 === "verify")) || (data2 === "records")) || (data2 === "jobs"))){
validate95.errors = [{instancePath:instancePath+"/scopes/" + i0,schemaPath:"#/properties/scopes/items/enum",keyword:"enum",params:{allowedValues: schema221.properties.scopes.items.enum},message:"must be equal to one of the allowed values",schema:schema221.properties.scopes.items.enum,parentSchema:schema221.properties.scopes.items,data:data2}];
return false;
}
var valid1 = _errs6 === errors;
if(!valid1){
break;
}
}
}
}
else {
validate95.errors = [{instancePath:instancePath+"/scopes",schemaPath:"#/properties/scopes/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema221.properties.scopes.type,parentSchema:schema221.properties.scopes,data:data1}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.expiresAt !== undefined){
let data3 = data.expiresAt;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data3 === "string"){
if(func0(data3) > 40){
validate95.errors = [{instancePath:instancePath+"/expiresAt",schemaPath:"#/properties/expiresAt/maxLength",keyword:"maxLength",params:{limit: 40},message:"must NOT have more than 40 characters",schema:40,parentSchema:schema221.properties.expiresAt,data:data3}];
return false;
}
}
else {
validate95.errors = [{instancePath:instancePath+"/expiresAt",schemaPath:"#/properties/expiresAt/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema221.properties.expiresAt.type,parentSchema:schema221.properties.expiresAt,data:data3}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.origins !== undefined){
let data4 = data.origins;
const _errs9 = errors;
if(errors === _errs9){
if(Array.isArray(data4)){
if(data4.length > 32){
validate95.errors = [{instancePath:instancePath+"/origins",schemaPath:"#/properties/origins/maxItems",keyword:"maxItems",params:{limit: 32},message:"must NOT have more than 32 items",schema:32,parentSchema:schema221.properties.origins,data:data4}];
return false;
}
else {
if(data4.length < 1){
validate95.errors = [{instancePath:instancePath+"/origins",schemaPath:"#/properties/origins/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema221.properties.origins,data:data4}];
return false;
}
else {
var valid2 = true;
const len1 = data4.length;
for(let i1=0; i1<len1; i1++){
let data5 = data4[i1];
const _errs11 = errors;
if(errors === _errs11){
if(typeof data5 === "string"){
if(func0(data5) > 300){
validate95.errors = [{instancePath:instancePath+"/origins/" + i1,schemaPath:"#/properties/origins/items/maxLength",keyword:"maxLength",params:{limit: 300},message:"must NOT have more than 300 characters",schema:300,parentSchema:schema221.properties.origins.items,data:data5}];
return false;
}
}
else {
validate95.errors = [{instancePath:instancePath+"/origins/" + i1,schemaPath:"#/properties/origins/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema221.properties.origins.items.type,parentSchema:schema221.properties.origins.items,data:data5}];
return false;
}
}
var valid2 = _errs11 === errors;
if(!valid2){
break;
}
}
}
}
}
else {
validate95.errors = [{instancePath:instancePath+"/origins",schemaPath:"#/properties/origins/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema221.properties.origins.type,parentSchema:schema221.properties.origins,data:data4}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.addresses !== undefined){
let data6 = data.addresses;
const _errs13 = errors;
if(errors === _errs13){
if(Array.isArray(data6)){
if(data6.length > 32){
validate95.errors = [{instancePath:instancePath+"/addresses",schemaPath:"#/properties/addresses/maxItems",keyword:"maxItems",params:{limit: 32},message:"must NOT have more than 32 items",schema:32,parentSchema:schema221.properties.addresses,data:data6}];
return false;
}
else {
if(data6.length < 1){
validate95.errors = [{instancePath:instancePath+"/addresses",schemaPath:"#/properties/addresses/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema221.properties.addresses,data:data6}];
return false;
}
else {
var valid3 = true;
const len2 = data6.length;
for(let i2=0; i2<len2; i2++){
let data7 = data6[i2];
const _errs15 = errors;
if(errors === _errs15){
if(typeof data7 === "string"){
if(func0(data7) > 60){
validate95.errors = [{instancePath:instancePath+"/addresses/" + i2,schemaPath:"#/properties/addresses/items/maxLength",keyword:"maxLength",params:{limit: 60},message:"must NOT have more than 60 characters",schema:60,parentSchema:schema221.properties.addresses.items,data:data7}];
return false;
}
}
else {
validate95.errors = [{instancePath:instancePath+"/addresses/" + i2,schemaPath:"#/properties/addresses/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema221.properties.addresses.items.type,parentSchema:schema221.properties.addresses.items,data:data7}];
return false;
}
}
var valid3 = _errs15 === errors;
if(!valid3){
break;
}
}
}
}
}
else {
validate95.errors = [{instancePath:instancePath+"/addresses",schemaPath:"#/properties/addresses/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema221.properties.addresses.type,parentSchema:schema221.properties.addresses,data:data6}];
return false;
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate95.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema221.type,parentSchema:schema221,data}];
return false;
}
}
validate95.errors = vErrors;
return errors === 0;
}
validate95.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const check34 = validate108;
const schema223 = {"title":"VerifyStampRequest","type":"object","required":["stamp"],"properties":{"stamp":{"$ref":"#/$defs/LocationStamp"},"media":{"description":"The file whose hash a proofmode stamp has as FileHash, in base64; it is hashed and not stored.","type":"string"}}};
const schema224 = {"title":"LocationStamp","description":"One observation by one proof-of-location system.","type":"object","required":["lpVersion","locationType","location","srs","temporalFootprint","plugin","pluginVersion","signals","signatures"],"properties":{"lpVersion":{"const":"0.2"},"locationType":{"type":"string","minLength":1},"location":{"description":"A GeoJSON geometry, or text in the notation that locationType names.","type":["object","string"],"tsType":"Geometry | string"},"srs":{"type":"string","minLength":1},"temporalFootprint":{"title":"TemporalFootprint","description":"Unix seconds.","type":"object","required":["start","end"],"properties":{"start":{"type":"number"},"end":{"type":"number"}}},"plugin":{"type":"string","minLength":1,"maxLength":64},"pluginVersion":{"type":"string","minLength":1,"maxLength":64},"signals":{"type":"object"},"signatures":{"type":"array","maxItems":16,"items":{"$ref":"#/$defs/StampSignature"}}}};
const schema225 = {"title":"StampSignature","type":"object","required":["signer","algorithm","value","timestamp"],"properties":{"signer":{"$ref":"verified-proof.schema.json#/$defs/SubjectIdentifier"},"algorithm":{"type":"string","minLength":1},"value":{"description":"Hex with the prefix 0x.","type":"string","minLength":1},"timestamp":{"description":"Unix seconds.","type":"number"}}};

function validate99(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate99.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.signer === undefined) && (missing0 = "signer")) || ((data.algorithm === undefined) && (missing0 = "algorithm"))) || ((data.value === undefined) && (missing0 = "value"))) || ((data.timestamp === undefined) && (missing0 = "timestamp"))){
validate99.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema225.required,parentSchema:schema225,data}];
return false;
}
else {
if(data.signer !== undefined){
let data0 = data.signer;
const _errs1 = errors;
const _errs2 = errors;
if(errors === _errs2){
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
let missing1;
if(((data0.scheme === undefined) && (missing1 = "scheme")) || ((data0.value === undefined) && (missing1 = "value"))){
validate99.errors = [{instancePath:instancePath+"/signer",schemaPath:"verified-proof.schema.json#/$defs/SubjectIdentifier/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'",schema:schema204.required,parentSchema:schema204,data:data0}];
return false;
}
else {
if(data0.scheme !== undefined){
let data1 = data0.scheme;
const _errs4 = errors;
if(typeof data1 !== "string"){
validate99.errors = [{instancePath:instancePath+"/signer/scheme",schemaPath:"verified-proof.schema.json#/$defs/SubjectIdentifier/properties/scheme/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema204.properties.scheme.type,parentSchema:schema204.properties.scheme,data:data1}];
return false;
}
var valid2 = _errs4 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data0.value !== undefined){
let data2 = data0.value;
const _errs6 = errors;
if(typeof data2 !== "string"){
validate99.errors = [{instancePath:instancePath+"/signer/value",schemaPath:"verified-proof.schema.json#/$defs/SubjectIdentifier/properties/value/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema204.properties.value.type,parentSchema:schema204.properties.value,data:data2}];
return false;
}
var valid2 = _errs6 === errors;
}
else {
var valid2 = true;
}
}
}
}
else {
validate99.errors = [{instancePath:instancePath+"/signer",schemaPath:"verified-proof.schema.json#/$defs/SubjectIdentifier/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema204.type,parentSchema:schema204,data:data0}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.algorithm !== undefined){
let data3 = data.algorithm;
const _errs8 = errors;
if(errors === _errs8){
if(typeof data3 === "string"){
if(func0(data3) < 1){
validate99.errors = [{instancePath:instancePath+"/algorithm",schemaPath:"#/properties/algorithm/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema225.properties.algorithm,data:data3}];
return false;
}
}
else {
validate99.errors = [{instancePath:instancePath+"/algorithm",schemaPath:"#/properties/algorithm/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema225.properties.algorithm.type,parentSchema:schema225.properties.algorithm,data:data3}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.value !== undefined){
let data4 = data.value;
const _errs10 = errors;
if(errors === _errs10){
if(typeof data4 === "string"){
if(func0(data4) < 1){
validate99.errors = [{instancePath:instancePath+"/value",schemaPath:"#/properties/value/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema225.properties.value,data:data4}];
return false;
}
}
else {
validate99.errors = [{instancePath:instancePath+"/value",schemaPath:"#/properties/value/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema225.properties.value.type,parentSchema:schema225.properties.value,data:data4}];
return false;
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.timestamp !== undefined){
let data5 = data.timestamp;
const _errs12 = errors;
if(!((typeof data5 == "number") && (isFinite(data5)))){
validate99.errors = [{instancePath:instancePath+"/timestamp",schemaPath:"#/properties/timestamp/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema225.properties.timestamp.type,parentSchema:schema225.properties.timestamp,data:data5}];
return false;
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate99.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema225.type,parentSchema:schema225,data}];
return false;
}
}
validate99.errors = vErrors;
return errors === 0;
}
validate99.evaluated = {"props":{"signer":true,"algorithm":true,"value":true,"timestamp":true},"dynamicProps":false,"dynamicItems":false};


function validate98(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate98.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((data.lpVersion === undefined) && (missing0 = "lpVersion")) || ((data.locationType === undefined) && (missing0 = "locationType"))) || ((data.location === undefined) && (missing0 = "location"))) || ((data.srs === undefined) && (missing0 = "srs"))) || ((data.temporalFootprint === undefined) && (missing0 = "temporalFootprint"))) || ((data.plugin === undefined) && (missing0 = "plugin"))) || ((data.pluginVersion === undefined) && (missing0 = "pluginVersion"))) || ((data.signals === undefined) && (missing0 = "signals"))) || ((data.signatures === undefined) && (missing0 = "signatures"))){
validate98.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema224.required,parentSchema:schema224,data}];
return false;
}
else {
if(data.lpVersion !== undefined){
let data0 = data.lpVersion;
const _errs1 = errors;
if("0.2" !== data0){
validate98.errors = [{instancePath:instancePath+"/lpVersion",schemaPath:"#/properties/lpVersion/const",keyword:"const",params:{allowedValue: "0.2"},message:"must be equal to constant",schema:"0.2",parentSchema:schema224.properties.lpVersion,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.locationType !== undefined){
let data1 = data.locationType;
const _errs2 = errors;
if(errors === _errs2){
if(typeof data1 === "string"){
if(func0(data1) < 1){
validate98.errors = [{instancePath:instancePath+"/locationType",schemaPath:"#/properties/locationType/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema224.properties.locationType,data:data1}];
return false;
}
}
else {
validate98.errors = [{instancePath:instancePath+"/locationType",schemaPath:"#/properties/locationType/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema224.properties.locationType.type,parentSchema:schema224.properties.locationType,data:data1}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.location !== undefined){
let data2 = data.location;
const _errs4 = errors;
if((!(data2 && typeof data2 == "object" && !Array.isArray(data2))) && (typeof data2 !== "string")){
validate98.errors = [{instancePath:instancePath+"/location",schemaPath:"#/properties/location/type",keyword:"type",params:{type: schema224.properties.location.type},message:"must be object,string",schema:schema224.properties.location.type,parentSchema:schema224.properties.location,data:data2}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.srs !== undefined){
let data3 = data.srs;
const _errs6 = errors;
if(errors === _errs6){
if(typeof data3 === "string"){
if(func0(data3) < 1){
validate98.errors = [{instancePath:instancePath+"/srs",schemaPath:"#/properties/srs/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema224.properties.srs,data:data3}];
return false;
}
}
else {
validate98.errors = [{instancePath:instancePath+"/srs",schemaPath:"#/properties/srs/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema224.properties.srs.type,parentSchema:schema224.properties.srs,data:data3}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.temporalFootprint !== undefined){
let data4 = data.temporalFootprint;
const _errs8 = errors;
if(errors === _errs8){
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
let missing1;
if(((data4.start === undefined) && (missing1 = "start")) || ((data4.end === undefined) && (missing1 = "end"))){
validate98.errors = [{instancePath:instancePath+"/temporalFootprint",schemaPath:"#/properties/temporalFootprint/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'",schema:schema224.properties.temporalFootprint.required,parentSchema:schema224.properties.temporalFootprint,data:data4}];
return false;
}
else {
if(data4.start !== undefined){
let data5 = data4.start;
const _errs10 = errors;
if(!((typeof data5 == "number") && (isFinite(data5)))){
validate98.errors = [{instancePath:instancePath+"/temporalFootprint/start",schemaPath:"#/properties/temporalFootprint/properties/start/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema224.properties.temporalFootprint.properties.start.type,parentSchema:schema224.properties.temporalFootprint.properties.start,data:data5}];
return false;
}
var valid1 = _errs10 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data4.end !== undefined){
let data6 = data4.end;
const _errs12 = errors;
if(!((typeof data6 == "number") && (isFinite(data6)))){
validate98.errors = [{instancePath:instancePath+"/temporalFootprint/end",schemaPath:"#/properties/temporalFootprint/properties/end/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema224.properties.temporalFootprint.properties.end.type,parentSchema:schema224.properties.temporalFootprint.properties.end,data:data6}];
return false;
}
var valid1 = _errs12 === errors;
}
else {
var valid1 = true;
}
}
}
}
else {
validate98.errors = [{instancePath:instancePath+"/temporalFootprint",schemaPath:"#/properties/temporalFootprint/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema224.properties.temporalFootprint.type,parentSchema:schema224.properties.temporalFootprint,data:data4}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.plugin !== undefined){
let data7 = data.plugin;
const _errs14 = errors;
if(errors === _errs14){
if(typeof data7 === "string"){
if(func0(data7) > 64){
validate98.errors = [{instancePath:instancePath+"/plugin",schemaPath:"#/properties/plugin/maxLength",keyword:"maxLength",params:{limit: 64},message:"must NOT have more than 64 characters",schema:64,parentSchema:schema224.properties.plugin,data:data7}];
return false;
}
else {
if(func0(data7) < 1){
validate98.errors = [{instancePath:instancePath+"/plugin",schemaPath:"#/properties/plugin/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema224.properties.plugin,data:data7}];
return false;
}
}
}
else {
validate98.errors = [{instancePath:instancePath+"/plugin",schemaPath:"#/properties/plugin/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema224.properties.plugin.type,parentSchema:schema224.properties.plugin,data:data7}];
return false;
}
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pluginVersion !== undefined){
let data8 = data.pluginVersion;
const _errs16 = errors;
if(errors === _errs16){
if(typeof data8 === "string"){
if(func0(data8) > 64){
validate98.errors = [{instancePath:instancePath+"/pluginVersion",schemaPath:"#/properties/pluginVersion/maxLength",keyword:"maxLength",params:{limit: 64},message:"must NOT have more than 64 characters",schema:64,parentSchema:schema224.properties.pluginVersion,data:data8}];
return false;
}
else {
if(func0(data8) < 1){
validate98.errors = [{instancePath:instancePath+"/pluginVersion",schemaPath:"#/properties/pluginVersion/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema224.properties.pluginVersion,data:data8}];
return false;
}
}
}
else {
validate98.errors = [{instancePath:instancePath+"/pluginVersion",schemaPath:"#/properties/pluginVersion/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema224.properties.pluginVersion.type,parentSchema:schema224.properties.pluginVersion,data:data8}];
return false;
}
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.signals !== undefined){
let data9 = data.signals;
const _errs18 = errors;
if(!(data9 && typeof data9 == "object" && !Array.isArray(data9))){
validate98.errors = [{instancePath:instancePath+"/signals",schemaPath:"#/properties/signals/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema224.properties.signals.type,parentSchema:schema224.properties.signals,data:data9}];
return false;
}
var valid0 = _errs18 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.signatures !== undefined){
let data10 = data.signatures;
const _errs20 = errors;
if(errors === _errs20){
if(Array.isArray(data10)){
if(data10.length > 16){
validate98.errors = [{instancePath:instancePath+"/signatures",schemaPath:"#/properties/signatures/maxItems",keyword:"maxItems",params:{limit: 16},message:"must NOT have more than 16 items",schema:16,parentSchema:schema224.properties.signatures,data:data10}];
return false;
}
else {
var valid2 = true;
const len0 = data10.length;
for(let i0=0; i0<len0; i0++){
const _errs22 = errors;
if(!(validate99(data10[i0], {instancePath:instancePath+"/signatures/" + i0,parentData:data10,parentDataProperty:i0,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate99.errors : vErrors.concat(validate99.errors);
errors = vErrors.length;
}
var valid2 = _errs22 === errors;
if(!valid2){
break;
}
}
}
}
else {
validate98.errors = [{instancePath:instancePath+"/signatures",schemaPath:"#/properties/signatures/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema224.properties.signatures.type,parentSchema:schema224.properties.signatures,data:data10}];
return false;
}
}
var valid0 = _errs20 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
else {
validate98.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema224.type,parentSchema:schema224,data}];
return false;
}
}
validate98.errors = vErrors;
return errors === 0;
}
validate98.evaluated = {"props":{"lpVersion":true,"locationType":true,"location":true,"srs":true,"temporalFootprint":true,"plugin":true,"pluginVersion":true,"signals":true,"signatures":true},"dynamicProps":false,"dynamicItems":false};


function validate108(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate108.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.stamp === undefined) && (missing0 = "stamp")){
validate108.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema223.required,parentSchema:schema223,data}];
return false;
}
else {
if(data.stamp !== undefined){
const _errs1 = errors;
if(!(validate98(data.stamp, {instancePath:instancePath+"/stamp",parentData:data,parentDataProperty:"stamp",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate98.errors : vErrors.concat(validate98.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.media !== undefined){
let data1 = data.media;
const _errs2 = errors;
if(typeof data1 !== "string"){
validate108.errors = [{instancePath:instancePath+"/media",schemaPath:"#/properties/media/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema223.properties.media.type,parentSchema:schema223.properties.media,data:data1}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate108.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema223.type,parentSchema:schema223,data}];
return false;
}
}
validate108.errors = vErrors;
return errors === 0;
}
validate108.evaluated = {"props":{"stamp":true,"media":true},"dynamicProps":false,"dynamicItems":false};

const check35 = validate110;
const schema227 = {"title":"VerifyProofRequest","type":"object","required":["proof"],"properties":{"proof":{"title":"EvidenceProof","type":"object","required":["claim","stamps"],"properties":{"claim":{"$ref":"verified-proof.schema.json#/$defs/LocationClaim"},"stamps":{"type":"array","minItems":1,"maxItems":64,"items":{"$ref":"#/$defs/LocationStamp"}}}},"options":{"$ref":"#/$defs/VerifyOptions"}}};
const schema231 = {"title":"VerifyOptions","type":"object","properties":{"chainId":{"description":"Signs the result for this chain; without chainId nothing is signed.","type":"integer","minimum":1,"maximum":9007199254740991},"submitOnchain":{"type":"boolean"},"recipient":{"description":"Recipient of the attestation. Default: the zero address.","type":"string","pattern":"^0x[0-9a-fA-F]{40}$"}}};

function validate104(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate104.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((data.lpVersion === undefined) && (missing0 = "lpVersion")) || ((data.locationType === undefined) && (missing0 = "locationType"))) || ((data.location === undefined) && (missing0 = "location"))) || ((data.srs === undefined) && (missing0 = "srs"))) || ((data.subject === undefined) && (missing0 = "subject"))) || ((data.radius === undefined) && (missing0 = "radius"))) || ((data.time === undefined) && (missing0 = "time"))){
validate104.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema203.required,parentSchema:schema203,data}];
return false;
}
else {
if(data.lpVersion !== undefined){
let data0 = data.lpVersion;
const _errs1 = errors;
if("0.2" !== data0){
validate104.errors = [{instancePath:instancePath+"/lpVersion",schemaPath:"#/properties/lpVersion/const",keyword:"const",params:{allowedValue: "0.2"},message:"must be equal to constant",schema:"0.2",parentSchema:schema203.properties.lpVersion,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.locationType !== undefined){
let data1 = data.locationType;
const _errs2 = errors;
if(typeof data1 !== "string"){
validate104.errors = [{instancePath:instancePath+"/locationType",schemaPath:"#/properties/locationType/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema203.properties.locationType.type,parentSchema:schema203.properties.locationType,data:data1}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.location !== undefined){
let data2 = data.location;
const _errs4 = errors;
if((!(data2 && typeof data2 == "object" && !Array.isArray(data2))) && (typeof data2 !== "string")){
validate104.errors = [{instancePath:instancePath+"/location",schemaPath:"#/properties/location/type",keyword:"type",params:{type: schema203.properties.location.type},message:"must be object,string",schema:schema203.properties.location.type,parentSchema:schema203.properties.location,data:data2}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.srs !== undefined){
let data3 = data.srs;
const _errs6 = errors;
if(typeof data3 !== "string"){
validate104.errors = [{instancePath:instancePath+"/srs",schemaPath:"#/properties/srs/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema203.properties.srs.type,parentSchema:schema203.properties.srs,data:data3}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.subject !== undefined){
let data4 = data.subject;
const _errs8 = errors;
const _errs9 = errors;
if(errors === _errs9){
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
let missing1;
if(((data4.scheme === undefined) && (missing1 = "scheme")) || ((data4.value === undefined) && (missing1 = "value"))){
validate104.errors = [{instancePath:instancePath+"/subject",schemaPath:"#/$defs/SubjectIdentifier/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'",schema:schema204.required,parentSchema:schema204,data:data4}];
return false;
}
else {
if(data4.scheme !== undefined){
let data5 = data4.scheme;
const _errs11 = errors;
if(typeof data5 !== "string"){
validate104.errors = [{instancePath:instancePath+"/subject/scheme",schemaPath:"#/$defs/SubjectIdentifier/properties/scheme/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema204.properties.scheme.type,parentSchema:schema204.properties.scheme,data:data5}];
return false;
}
var valid2 = _errs11 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data4.value !== undefined){
let data6 = data4.value;
const _errs13 = errors;
if(typeof data6 !== "string"){
validate104.errors = [{instancePath:instancePath+"/subject/value",schemaPath:"#/$defs/SubjectIdentifier/properties/value/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema204.properties.value.type,parentSchema:schema204.properties.value,data:data6}];
return false;
}
var valid2 = _errs13 === errors;
}
else {
var valid2 = true;
}
}
}
}
else {
validate104.errors = [{instancePath:instancePath+"/subject",schemaPath:"#/$defs/SubjectIdentifier/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema204.type,parentSchema:schema204,data:data4}];
return false;
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.radius !== undefined){
let data7 = data.radius;
const _errs15 = errors;
if(errors === _errs15){
if((typeof data7 == "number") && (isFinite(data7))){
if(data7 <= 0 || isNaN(data7)){
validate104.errors = [{instancePath:instancePath+"/radius",schemaPath:"#/properties/radius/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0",schema:0,parentSchema:schema203.properties.radius,data:data7}];
return false;
}
}
else {
validate104.errors = [{instancePath:instancePath+"/radius",schemaPath:"#/properties/radius/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema203.properties.radius.type,parentSchema:schema203.properties.radius,data:data7}];
return false;
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.time !== undefined){
let data8 = data.time;
const _errs17 = errors;
const _errs18 = errors;
if(errors === _errs18){
if(data8 && typeof data8 == "object" && !Array.isArray(data8)){
let missing2;
if(((data8.start === undefined) && (missing2 = "start")) || ((data8.end === undefined) && (missing2 = "end"))){
validate104.errors = [{instancePath:instancePath+"/time",schemaPath:"#/$defs/TimeRange/required",keyword:"required",params:{missingProperty: missing2},message:"must have required property '"+missing2+"'",schema:schema205.required,parentSchema:schema205,data:data8}];
return false;
}
else {
if(data8.start !== undefined){
let data9 = data8.start;
const _errs20 = errors;
if(errors === _errs20){
if((typeof data9 == "number") && (isFinite(data9))){
if(data9 < 0 || isNaN(data9)){
validate104.errors = [{instancePath:instancePath+"/time/start",schemaPath:"#/$defs/TimeRange/properties/start/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema205.properties.start,data:data9}];
return false;
}
}
else {
validate104.errors = [{instancePath:instancePath+"/time/start",schemaPath:"#/$defs/TimeRange/properties/start/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema205.properties.start.type,parentSchema:schema205.properties.start,data:data9}];
return false;
}
}
var valid4 = _errs20 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data8.end !== undefined){
let data10 = data8.end;
const _errs22 = errors;
if(errors === _errs22){
if((typeof data10 == "number") && (isFinite(data10))){
if(data10 < 0 || isNaN(data10)){
validate104.errors = [{instancePath:instancePath+"/time/end",schemaPath:"#/$defs/TimeRange/properties/end/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema205.properties.end,data:data10}];
return false;
}
}
else {
validate104.errors = [{instancePath:instancePath+"/time/end",schemaPath:"#/$defs/TimeRange/properties/end/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema205.properties.end.type,parentSchema:schema205.properties.end,data:data10}];
return false;
}
}
var valid4 = _errs22 === errors;
}
else {
var valid4 = true;
}
}
}
}
else {
validate104.errors = [{instancePath:instancePath+"/time",schemaPath:"#/$defs/TimeRange/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema205.type,parentSchema:schema205,data:data8}];
return false;
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.eventType !== undefined){
let data11 = data.eventType;
const _errs24 = errors;
if(typeof data11 !== "string"){
validate104.errors = [{instancePath:instancePath+"/eventType",schemaPath:"#/properties/eventType/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema203.properties.eventType.type,parentSchema:schema203.properties.eventType,data:data11}];
return false;
}
var valid0 = _errs24 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
else {
validate104.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema203.type,parentSchema:schema203,data}];
return false;
}
}
validate104.errors = vErrors;
return errors === 0;
}
validate104.evaluated = {"props":{"lpVersion":true,"locationType":true,"location":true,"srs":true,"subject":true,"radius":true,"time":true,"eventType":true},"dynamicProps":false,"dynamicItems":false};


function validate110(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate110.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.proof === undefined) && (missing0 = "proof")){
validate110.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema227.required,parentSchema:schema227,data}];
return false;
}
else {
if(data.proof !== undefined){
let data0 = data.proof;
const _errs1 = errors;
if(errors === _errs1){
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
let missing1;
if(((data0.claim === undefined) && (missing1 = "claim")) || ((data0.stamps === undefined) && (missing1 = "stamps"))){
validate110.errors = [{instancePath:instancePath+"/proof",schemaPath:"#/properties/proof/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'",schema:schema227.properties.proof.required,parentSchema:schema227.properties.proof,data:data0}];
return false;
}
else {
if(data0.claim !== undefined){
const _errs3 = errors;
if(!(validate104(data0.claim, {instancePath:instancePath+"/proof/claim",parentData:data0,parentDataProperty:"claim",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate104.errors : vErrors.concat(validate104.errors);
errors = vErrors.length;
}
var valid1 = _errs3 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data0.stamps !== undefined){
let data2 = data0.stamps;
const _errs4 = errors;
if(errors === _errs4){
if(Array.isArray(data2)){
if(data2.length > 64){
validate110.errors = [{instancePath:instancePath+"/proof/stamps",schemaPath:"#/properties/proof/properties/stamps/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items",schema:64,parentSchema:schema227.properties.proof.properties.stamps,data:data2}];
return false;
}
else {
if(data2.length < 1){
validate110.errors = [{instancePath:instancePath+"/proof/stamps",schemaPath:"#/properties/proof/properties/stamps/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema227.properties.proof.properties.stamps,data:data2}];
return false;
}
else {
var valid2 = true;
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
const _errs6 = errors;
if(!(validate98(data2[i0], {instancePath:instancePath+"/proof/stamps/" + i0,parentData:data2,parentDataProperty:i0,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate98.errors : vErrors.concat(validate98.errors);
errors = vErrors.length;
}
var valid2 = _errs6 === errors;
if(!valid2){
break;
}
}
}
}
}
else {
validate110.errors = [{instancePath:instancePath+"/proof/stamps",schemaPath:"#/properties/proof/properties/stamps/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema227.properties.proof.properties.stamps.type,parentSchema:schema227.properties.proof.properties.stamps,data:data2}];
return false;
}
}
var valid1 = _errs4 === errors;
}
else {
var valid1 = true;
}
}
}
}
else {
validate110.errors = [{instancePath:instancePath+"/proof",schemaPath:"#/properties/proof/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema227.properties.proof.type,parentSchema:schema227.properties.proof,data:data0}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.options !== undefined){
let data4 = data.options;
const _errs7 = errors;
const _errs8 = errors;
if(errors === _errs8){
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
if(data4.chainId !== undefined){
let data5 = data4.chainId;
const _errs10 = errors;
if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){
validate110.errors = [{instancePath:instancePath+"/options/chainId",schemaPath:"#/$defs/VerifyOptions/properties/chainId/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema231.properties.chainId.type,parentSchema:schema231.properties.chainId,data:data5}];
return false;
}
if(errors === _errs10){
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 > 9007199254740991 || isNaN(data5)){
validate110.errors = [{instancePath:instancePath+"/options/chainId",schemaPath:"#/$defs/VerifyOptions/properties/chainId/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema231.properties.chainId,data:data5}];
return false;
}
else {
if(data5 < 1 || isNaN(data5)){
validate110.errors = [{instancePath:instancePath+"/options/chainId",schemaPath:"#/$defs/VerifyOptions/properties/chainId/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema231.properties.chainId,data:data5}];
return false;
}
}
}
}
var valid4 = _errs10 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data4.submitOnchain !== undefined){
let data6 = data4.submitOnchain;
const _errs12 = errors;
if(typeof data6 !== "boolean"){
validate110.errors = [{instancePath:instancePath+"/options/submitOnchain",schemaPath:"#/$defs/VerifyOptions/properties/submitOnchain/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema231.properties.submitOnchain.type,parentSchema:schema231.properties.submitOnchain,data:data6}];
return false;
}
var valid4 = _errs12 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data4.recipient !== undefined){
let data7 = data4.recipient;
const _errs14 = errors;
if(errors === _errs14){
if(typeof data7 === "string"){
if(!pattern1.test(data7)){
validate110.errors = [{instancePath:instancePath+"/options/recipient",schemaPath:"#/$defs/VerifyOptions/properties/recipient/pattern",keyword:"pattern",params:{pattern: "^0x[0-9a-fA-F]{40}$"},message:"must match pattern \""+"^0x[0-9a-fA-F]{40}$"+"\"",schema:"^0x[0-9a-fA-F]{40}$",parentSchema:schema231.properties.recipient,data:data7}];
return false;
}
}
else {
validate110.errors = [{instancePath:instancePath+"/options/recipient",schemaPath:"#/$defs/VerifyOptions/properties/recipient/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema231.properties.recipient.type,parentSchema:schema231.properties.recipient,data:data7}];
return false;
}
}
var valid4 = _errs14 === errors;
}
else {
var valid4 = true;
}
}
}
}
else {
validate110.errors = [{instancePath:instancePath+"/options",schemaPath:"#/$defs/VerifyOptions/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema231.type,parentSchema:schema231,data:data4}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate110.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema227.type,parentSchema:schema227,data}];
return false;
}
}
validate110.errors = vErrors;
return errors === 0;
}
validate110.evaluated = {"props":{"proof":true,"options":true},"dynamicProps":false,"dynamicItems":false};

const check36 = validate113;
const schema235 = {"title":"StampRules","description":"Rules for a stamp; breaking one is a `validation` problem. They cover the members without which a stamp cannot be read. A readable stamp that is wrong is not a problem, but gets a verification result.","type":"object","properties":{"lpVersion":{"const":"0.2"},"locationType":{"minLength":1},"srs":{"minLength":1},"plugin":{"minLength":1},"pluginVersion":{"minLength":1},"signatures":{"items":{"properties":{"signer":{"properties":{"scheme":{"minLength":1},"value":{"minLength":1}}},"algorithm":{"minLength":1},"value":{"minLength":1}}}}}};

function validate113(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate113.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.lpVersion !== undefined){
let data0 = data.lpVersion;
const _errs1 = errors;
if("0.2" !== data0){
validate113.errors = [{instancePath:instancePath+"/lpVersion",schemaPath:"#/properties/lpVersion/const",keyword:"const",params:{allowedValue: "0.2"},message:"must be equal to constant",schema:"0.2",parentSchema:schema235.properties.lpVersion,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.locationType !== undefined){
let data1 = data.locationType;
const _errs2 = errors;
if(typeof data1 === "string"){
if(func0(data1) < 1){
validate113.errors = [{instancePath:instancePath+"/locationType",schemaPath:"#/properties/locationType/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema235.properties.locationType,data:data1}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.srs !== undefined){
let data2 = data.srs;
const _errs3 = errors;
if(typeof data2 === "string"){
if(func0(data2) < 1){
validate113.errors = [{instancePath:instancePath+"/srs",schemaPath:"#/properties/srs/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema235.properties.srs,data:data2}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.plugin !== undefined){
let data3 = data.plugin;
const _errs4 = errors;
if(typeof data3 === "string"){
if(func0(data3) < 1){
validate113.errors = [{instancePath:instancePath+"/plugin",schemaPath:"#/properties/plugin/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema235.properties.plugin,data:data3}];
return false;
}
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pluginVersion !== undefined){
let data4 = data.pluginVersion;
const _errs5 = errors;
if(typeof data4 === "string"){
if(func0(data4) < 1){
validate113.errors = [{instancePath:instancePath+"/pluginVersion",schemaPath:"#/properties/pluginVersion/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema235.properties.pluginVersion,data:data4}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.signatures !== undefined){
let data5 = data.signatures;
const _errs6 = errors;
if(Array.isArray(data5)){
var valid1 = true;
const len0 = data5.length;
for(let i0=0; i0<len0; i0++){
let data6 = data5[i0];
const _errs7 = errors;
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.signer !== undefined){
let data7 = data6.signer;
const _errs8 = errors;
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
if(data7.scheme !== undefined){
let data8 = data7.scheme;
const _errs9 = errors;
if(typeof data8 === "string"){
if(func0(data8) < 1){
validate113.errors = [{instancePath:instancePath+"/signatures/" + i0+"/signer/scheme",schemaPath:"#/properties/signatures/items/properties/signer/properties/scheme/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema235.properties.signatures.items.properties.signer.properties.scheme,data:data8}];
return false;
}
}
var valid3 = _errs9 === errors;
}
else {
var valid3 = true;
}
if(valid3){
if(data7.value !== undefined){
let data9 = data7.value;
const _errs10 = errors;
if(typeof data9 === "string"){
if(func0(data9) < 1){
validate113.errors = [{instancePath:instancePath+"/signatures/" + i0+"/signer/value",schemaPath:"#/properties/signatures/items/properties/signer/properties/value/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema235.properties.signatures.items.properties.signer.properties.value,data:data9}];
return false;
}
}
var valid3 = _errs10 === errors;
}
else {
var valid3 = true;
}
}
}
var valid2 = _errs8 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data6.algorithm !== undefined){
let data10 = data6.algorithm;
const _errs11 = errors;
if(typeof data10 === "string"){
if(func0(data10) < 1){
validate113.errors = [{instancePath:instancePath+"/signatures/" + i0+"/algorithm",schemaPath:"#/properties/signatures/items/properties/algorithm/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema235.properties.signatures.items.properties.algorithm,data:data10}];
return false;
}
}
var valid2 = _errs11 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data6.value !== undefined){
let data11 = data6.value;
const _errs12 = errors;
if(typeof data11 === "string"){
if(func0(data11) < 1){
validate113.errors = [{instancePath:instancePath+"/signatures/" + i0+"/value",schemaPath:"#/properties/signatures/items/properties/value/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema235.properties.signatures.items.properties.value,data:data11}];
return false;
}
}
var valid2 = _errs12 === errors;
}
else {
var valid2 = true;
}
}
}
}
var valid1 = _errs7 === errors;
if(!valid1){
break;
}
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate113.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema235.type,parentSchema:schema235,data}];
return false;
}
}
validate113.errors = vErrors;
return errors === 0;
}
validate113.evaluated = {"props":{"lpVersion":true,"locationType":true,"srs":true,"plugin":true,"pluginVersion":true,"signatures":true},"dynamicProps":false,"dynamicItems":false};

const check37 = validate114;
const schema236 = {"title":"ClaimRules","description":"Rules for a claim; breaking one is a `validation` problem.","type":"object","required":["lpVersion","srs","radius","time"],"properties":{"lpVersion":{"const":"0.2"},"srs":{"enum":["http://www.opengis.net/def/crs/OGC/1.3/CRS84","http://www.opengis.net/def/crs/OGC/0/CRS84","http://www.opengis.net/def/crs/EPSG/0/4326","https://www.opengis.net/def/crs/OGC/1.3/CRS84","https://www.opengis.net/def/crs/EPSG/0/4326","urn:ogc:def:crs:OGC:1.3:CRS84","urn:ogc:def:crs:EPSG::4326","EPSG:4326","WGS84"]},"radius":{"type":"number","exclusiveMinimum":0},"time":{"type":"object","required":["start","end"],"properties":{"start":{"type":"number","minimum":0},"end":{"type":"number","minimum":0}}},"subject":{"type":"object","properties":{"scheme":{"enum":["eth-address","device-pubkey","did:web"]},"value":{"minLength":1}}},"locationType":{"minLength":1}}};

function validate114(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate114.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.lpVersion === undefined) && (missing0 = "lpVersion")) || ((data.srs === undefined) && (missing0 = "srs"))) || ((data.radius === undefined) && (missing0 = "radius"))) || ((data.time === undefined) && (missing0 = "time"))){
validate114.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema236.required,parentSchema:schema236,data}];
return false;
}
else {
if(data.lpVersion !== undefined){
let data0 = data.lpVersion;
const _errs1 = errors;
if("0.2" !== data0){
validate114.errors = [{instancePath:instancePath+"/lpVersion",schemaPath:"#/properties/lpVersion/const",keyword:"const",params:{allowedValue: "0.2"},message:"must be equal to constant",schema:"0.2",parentSchema:schema236.properties.lpVersion,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.srs !== undefined){
let data1 = data.srs;
const _errs2 = errors;
if(!(((((((((data1 === "http://www.opengis.net/def/crs/OGC/1.3/CRS84") || (data1 === "http://www.opengis.net/def/crs/OGC/0/CRS84")) || (data1 === "http://www.opengis.net/def/crs/EPSG/0/4326")) || (data1 === "https://www.opengis.net/def/crs/OGC/1.3/CRS84")) || (data1 === "https://www.opengis.net/def/crs/EPSG/0/4326")) || (data1 === "urn:ogc:def:crs:OGC:1.3:CRS84")) || (data1 === "urn:ogc:def:crs:EPSG::4326")) || (data1 === "EPSG:4326")) || (data1 === "WGS84"))){
validate114.errors = [{instancePath:instancePath+"/srs",schemaPath:"#/properties/srs/enum",keyword:"enum",params:{allowedValues: schema236.properties.srs.enum},message:"must be equal to one of the allowed values",schema:schema236.properties.srs.enum,parentSchema:schema236.properties.srs,data:data1}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.radius !== undefined){
let data2 = data.radius;
const _errs3 = errors;
if(errors === _errs3){
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 <= 0 || isNaN(data2)){
validate114.errors = [{instancePath:instancePath+"/radius",schemaPath:"#/properties/radius/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0",schema:0,parentSchema:schema236.properties.radius,data:data2}];
return false;
}
}
else {
validate114.errors = [{instancePath:instancePath+"/radius",schemaPath:"#/properties/radius/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema236.properties.radius.type,parentSchema:schema236.properties.radius,data:data2}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.time !== undefined){
let data3 = data.time;
const _errs5 = errors;
if(errors === _errs5){
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
let missing1;
if(((data3.start === undefined) && (missing1 = "start")) || ((data3.end === undefined) && (missing1 = "end"))){
validate114.errors = [{instancePath:instancePath+"/time",schemaPath:"#/properties/time/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'",schema:schema236.properties.time.required,parentSchema:schema236.properties.time,data:data3}];
return false;
}
else {
if(data3.start !== undefined){
let data4 = data3.start;
const _errs7 = errors;
if(errors === _errs7){
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 < 0 || isNaN(data4)){
validate114.errors = [{instancePath:instancePath+"/time/start",schemaPath:"#/properties/time/properties/start/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema236.properties.time.properties.start,data:data4}];
return false;
}
}
else {
validate114.errors = [{instancePath:instancePath+"/time/start",schemaPath:"#/properties/time/properties/start/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema236.properties.time.properties.start.type,parentSchema:schema236.properties.time.properties.start,data:data4}];
return false;
}
}
var valid1 = _errs7 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data3.end !== undefined){
let data5 = data3.end;
const _errs9 = errors;
if(errors === _errs9){
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 < 0 || isNaN(data5)){
validate114.errors = [{instancePath:instancePath+"/time/end",schemaPath:"#/properties/time/properties/end/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema236.properties.time.properties.end,data:data5}];
return false;
}
}
else {
validate114.errors = [{instancePath:instancePath+"/time/end",schemaPath:"#/properties/time/properties/end/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema236.properties.time.properties.end.type,parentSchema:schema236.properties.time.properties.end,data:data5}];
return false;
}
}
var valid1 = _errs9 === errors;
}
else {
var valid1 = true;
}
}
}
}
else {
validate114.errors = [{instancePath:instancePath+"/time",schemaPath:"#/properties/time/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema236.properties.time.type,parentSchema:schema236.properties.time,data:data3}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.subject !== undefined){
let data6 = data.subject;
const _errs11 = errors;
if(errors === _errs11){
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.scheme !== undefined){
let data7 = data6.scheme;
const _errs13 = errors;
if(!(((data7 === "eth-address") || (data7 === "device-pubkey")) || (data7 === "did:web"))){
validate114.errors = [{instancePath:instancePath+"/subject/scheme",schemaPath:"#/properties/subject/properties/scheme/enum",keyword:"enum",params:{allowedValues: schema236.properties.subject.properties.scheme.enum},message:"must be equal to one of the allowed values",schema:schema236.properties.subject.properties.scheme.enum,parentSchema:schema236.properties.subject.properties.scheme,data:data7}];
return false;
}
var valid2 = _errs13 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data6.value !== undefined){
let data8 = data6.value;
const _errs14 = errors;
if(typeof data8 === "string"){
if(func0(data8) < 1){
validate114.errors = [{instancePath:instancePath+"/subject/value",schemaPath:"#/properties/subject/properties/value/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema236.properties.subject.properties.value,data:data8}];
return false;
}
}
var valid2 = _errs14 === errors;
}
else {
var valid2 = true;
}
}
}
else {
validate114.errors = [{instancePath:instancePath+"/subject",schemaPath:"#/properties/subject/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema236.properties.subject.type,parentSchema:schema236.properties.subject,data:data6}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.locationType !== undefined){
let data9 = data.locationType;
const _errs15 = errors;
if(typeof data9 === "string"){
if(func0(data9) < 1){
validate114.errors = [{instancePath:instancePath+"/locationType",schemaPath:"#/properties/locationType/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema236.properties.locationType,data:data9}];
return false;
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate114.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema236.type,parentSchema:schema236,data}];
return false;
}
}
validate114.errors = vErrors;
return errors === 0;
}
validate114.evaluated = {"props":{"lpVersion":true,"srs":true,"radius":true,"time":true,"subject":true,"locationType":true},"dynamicProps":false,"dynamicItems":false};

/** The validators by the reference of their schema. */
export const VALIDATORS = {
  "batch-request.schema.json": check0,
  "batch-request.schema.json#/$defs/BatchOptions": check1,
  "batch-request.schema.json#/$defs/BatchItem": check2,
  "compute-request.schema.json#/$defs/DistanceRequest": check3,
  "compute-request.schema.json#/$defs/AreaRequest": check4,
  "compute-request.schema.json#/$defs/LengthRequest": check5,
  "compute-request.schema.json#/$defs/ContainsRequest": check6,
  "compute-request.schema.json#/$defs/WithinRequest": check7,
  "compute-request.schema.json#/$defs/IntersectsRequest": check8,
  "compute-request.schema.json#/$defs/PredicateRequest": check9,
  "compute-request.schema.json#/$defs/RelateRequest": check10,
  "compute-request.schema.json#/$defs/DirectRequest": check11,
  "compute-request.schema.json#/$defs/WaypointsRequest": check12,
  "compute-request.schema.json#/$defs/NearestRequest": check13,
  "compute-request.schema.json#/$defs/BufferRequest": check14,
  "compute-request.schema.json#/$defs/RepairRequest": check15,
  "geometry.schema.json#/$defs/Point": check16,
  "geometry.schema.json#/$defs/MultiPoint": check17,
  "geometry.schema.json#/$defs/LineString": check18,
  "geometry.schema.json#/$defs/MultiLineString": check19,
  "geometry.schema.json#/$defs/Polygon": check20,
  "geometry.schema.json#/$defs/MultiPolygon": check21,
  "geometry.schema.json#/$defs/GeometryCollection": check22,
  "input-forms#/$defs/OffchainAttestation": check23,
  "input-forms#/$defs/OnchainInput": check24,
  "input-forms#/$defs/SignerAddress": check25,
  "input-forms#/$defs/StoredInput": check26,
  "input-forms#/$defs/NamedInput": check27,
  "verified-proof.schema.json": check28,
  "resign-request.schema.json": check29,
  "key.schema.json#/$defs/KeyRequest": check30,
  "account.schema.json#/$defs/SignInRequest": check31,
  "account.schema.json#/$defs/RefreshRequest": check32,
  "account.schema.json#/$defs/AccountKeyRequest": check33,
  "verify-request.schema.json#/$defs/VerifyStampRequest": check34,
  "verify-request.schema.json#/$defs/VerifyProofRequest": check35,
  "verify-request.schema.json#/$defs/StampRules": check36,
  "verify-request.schema.json#/$defs/ClaimRules": check37,
}
