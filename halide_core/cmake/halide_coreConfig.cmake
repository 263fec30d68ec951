# Generators as libraries of a CMake project, with the functions and the arguments of Halide's package.
#
#     find_package(halide_core REQUIRED)          # -Dhalide_core_DIR=$(python -m halide_core cmake-dir)
#     add_halide_library(blur FROM filters.py)
#     target_link_libraries(app PRIVATE blur)     # #include "blur.h"
#
# The Python that runs Generators is ${Python_EXECUTABLE} where that is set, else that of the environment which this
# package is installed in, else the first one found.

include(CMakeFindDependencyMacro)
find_dependency(Threads)

get_filename_component(_halide_core_root "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
get_filename_component(_halide_core_crt "${CMAKE_CURRENT_LIST_DIR}/../runtime/crt" REALPATH)
set(_halide_core_near "${_halide_core_root}/../../../bin/python3")
if(Python_EXECUTABLE)
    set(HALIDE_CORE_PYTHON "${Python_EXECUTABLE}")
elseif(EXISTS "${_halide_core_near}")
    get_filename_component(HALIDE_CORE_PYTHON "${_halide_core_near}" ABSOLUTE)
else()
    find_dependency(Python 3.10 COMPONENTS Interpreter)
    set(HALIDE_CORE_PYTHON "${Python_EXECUTABLE}")
endif()
set(HALIDE_CORE_COMMAND "${CMAKE_COMMAND}" -E env "PYTHONPATH=${_halide_core_root}" "${HALIDE_CORE_PYTHON}" -m halide_core)

execute_process(
    COMMAND ${HALIDE_CORE_COMMAND} cmake-dir
    RESULT_VARIABLE _halide_core_result OUTPUT_QUIET ERROR_VARIABLE _halide_core_error
)
if(_halide_core_result)
    set(halide_core_FOUND FALSE)
    set(halide_core_NOT_FOUND_MESSAGE
        "${HALIDE_CORE_PYTHON} can't run halide_core; set Python_EXECUTABLE to one that can. ${_halide_core_error}")
    return()
endif()

# Halide's kinds of extra files, and what their names end in.
set(_halide_core_extras
    ASSEMBLY C_SOURCE CONCEPTUAL_STMT CONCEPTUAL_STMT_HTML FEATURIZATION HLPIPE PYTORCH_WRAPPER REGISTRATION SCHEDULE
    STMT STMT_HTML)
set(_halide_core_ASSEMBLY .s)
set(_halide_core_C_SOURCE .halide_generated.c)
set(_halide_core_CONCEPTUAL_STMT .conceptual.stmt)
set(_halide_core_CONCEPTUAL_STMT_HTML .conceptual.stmt.html)
set(_halide_core_FEATURIZATION .featurization)
set(_halide_core_HLPIPE .hlpipe)
set(_halide_core_PYTORCH_WRAPPER .pytorch.h)
set(_halide_core_REGISTRATION .registration.cpp)
set(_halide_core_SCHEDULE .schedule.py)
set(_halide_core_STMT .stmt)
set(_halide_core_STMT_HTML .stmt.html)
set(_halide_core_absent BITCODE COMPILER_LOG FUNCTION_INFO_HEADER LLVM_ASSEMBLY NAMESPACE)

# The machine that the project is for, as a target.
function(_halide_core_machine OUT)
    if(NOT CMAKE_CROSSCOMPILING)
        set(${OUT} host PARENT_SCOPE)
        return()
    endif()
    set(arch_aarch64 arm-64)
    set(arch_arm64 arm-64)
    set(arch_armv7-a arm-32)
    set(arch_armv7l arm-32)
    set(arch_arm arm-32)
    set(arch_x86_64 x86-64)
    set(arch_amd64 x86-64)
    set(arch_i686 x86-32)
    set(arch_riscv64 riscv-64)
    set(arch_wasm32 wasm-32)
    set(system_linux linux)
    set(system_android android)
    set(system_darwin osx)
    set(system_ios ios)
    set(system_windows windows)
    set(system_generic noos)
    set(system_wasi wasmrt)
    set(system_emscripten wasmrt)
    string(TOLOWER "arch_${CMAKE_SYSTEM_PROCESSOR}" arch)
    string(TOLOWER "system_${CMAKE_SYSTEM_NAME}" system)
    if(NOT ${arch} OR NOT ${system})
        message(FATAL_ERROR "TARGETS must say what to compile for: no target is known for "
            "${CMAKE_SYSTEM_PROCESSOR} with ${CMAKE_SYSTEM_NAME}.")
    endif()
    set(${OUT} "${${arch}}-${${system}}" PARENT_SCOPE)
endfunction()

# The targets to compile for, with commas between them: those of the arguments, with their features, and MORE.
function(_halide_core_target OUT TARGETS FEATURES MORE)
    if(NOT TARGETS)
        set(TARGETS cmake)
    endif()
    _halide_core_machine(machine)
    list(TRANSFORM TARGETS REPLACE "^cmake" "${machine}")
    string(REPLACE ";" "-" features ";${FEATURES};${MORE}")
    string(REGEX REPLACE "-+" "-" features "${features}")
    string(REGEX REPLACE "-$" "" features "${features}")
    list(TRANSFORM TARGETS APPEND "${features}")
    list(JOIN TARGETS "," text)
    set(${OUT} "${text}" PARENT_SCOPE)
endfunction()

# How C of this package is compiled: to the same values as by the package itself.
set(_halide_core_options -std=gnu11 -ffp-contract=off -fno-math-errno -fno-trapping-math -fPIC)

# A library of C files and object files, or one that is there, with the folder of its headers.
function(_halide_core_objects TARGET FOLDER NO_THREADS FILE)
    if(FILE MATCHES "\\.a$")
        add_library(${TARGET} INTERFACE)
        add_custom_target(${TARGET}.made DEPENDS "${FILE}")
        add_dependencies(${TARGET} ${TARGET}.made)
        target_link_libraries(${TARGET} INTERFACE "${FILE}")
    else()
        add_library(${TARGET} STATIC "${FILE}" ${ARGN})
        set_target_properties(${TARGET} PROPERTIES LINKER_LANGUAGE C)
    endif()
    target_include_directories(${TARGET} INTERFACE "$<BUILD_INTERFACE:${FOLDER}>")
    if(UNIX)
        target_link_libraries(${TARGET} INTERFACE m)
    endif()
    if(NOT NO_THREADS)
        target_link_libraries(${TARGET} INTERFACE Threads::Threads)
    endif()
endfunction()

# add_halide_generator(target [SOURCES] file.py): a file of Generators, by a name.
function(add_halide_generator TARGET)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "PACKAGE_NAME;PACKAGE_NAMESPACE;EXPORT_FILE;PYSTUB" "SOURCES;LINK_LIBRARIES")
    list(APPEND ARG_SOURCES ${ARG_UNPARSED_ARGUMENTS})
    list(GET ARG_SOURCES 0 script)
    get_filename_component(script "${script}" ABSOLUTE)
    list(TRANSFORM ARG_SOURCES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
    add_custom_target(${TARGET} SOURCES ${ARG_SOURCES})
    set_target_properties(${TARGET} PROPERTIES HALIDE_CORE_SCRIPT "${script}" HALIDE_CORE_SOURCES "${ARG_SOURCES}")
endfunction()

# add_halide_runtime(target [TARGETS …] [NO_THREADS]): the runtime, for libraries that USE_RUNTIME it. Where the project
# is for another machine, its own compiler compiles it.
function(add_halide_runtime TARGET)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "NO_THREADS;NO_DL_LIBS" "" "TARGETS;FEATURES")
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${TARGET}.halide")
    if(CMAKE_CROSSCOMPILING)
        file(GLOB sources "${_halide_core_crt}/*.c")
        file(MAKE_DIRECTORY "${folder}")
        configure_file("${_halide_core_crt}/halide_runtime.h" "${folder}/halide_runtime.h" COPYONLY)
        _halide_core_objects(${TARGET} "${folder}" "${ARG_NO_THREADS}" ${sources})
        target_compile_options(${TARGET} PRIVATE ${_halide_core_options} -O2)
        if(ARG_NO_THREADS)
            target_compile_definitions(${TARGET} PRIVATE HALIDE_CORE_NO_THREADS)
        endif()
        return()
    endif()
    if(ARG_TARGETS)
        list(GET ARG_TARGETS -1 ARG_TARGETS) # of several, that which needs the fewest instructions
    endif()
    _halide_core_target(target "${ARG_TARGETS}" "${ARG_FEATURES}" "")
    add_custom_command(
        OUTPUT "${folder}/${TARGET}.o" "${folder}/halide_runtime.h"
        COMMAND ${HALIDE_CORE_COMMAND} generate -r ${TARGET} -o "${folder}" -e object target=${target}
        COMMENT "Writing the runtime ${TARGET} for ${target}" VERBATIM
    )
    set_source_files_properties("${folder}/${TARGET}.o" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    _halide_core_objects(${TARGET} "${folder}" "${ARG_NO_THREADS}" "${folder}/${TARGET}.o")
endfunction()

# add_halide_library(target FROM generators [GENERATOR name] [FUNCTION_NAME name] [USE_RUNTIME target] [PARAMS …]
#                    [DEPENDS …] [TARGETS …] [FEATURES …] [AUTOSCHEDULER name] [HEADER var] [PYTHON_EXTENSION var]
#                    [REGISTRATION var] … [C_BACKEND] [NO_THREADS] [NO_DL_LIBS])
#
# Of several TARGETS, the first whose instructions the processor has is chosen when the program runs. C_BACKEND compiles
# with the project's own compiler, as is done anyway where the project is for another machine and no TARGETS are given.
function(add_halide_library TARGET)
    set(names FROM GENERATOR FUNCTION_NAME USE_RUNTIME AUTOSCHEDULER HEADER PYTHON_EXTENSION)
    cmake_parse_arguments(
        PARSE_ARGV 1 ARG "GRADIENT_DESCENT;C_BACKEND;NO_THREADS;NO_DL_LIBS"
        "${names};${_halide_core_extras};${_halide_core_absent}" "PARAMS;DEPENDS;TARGETS;FEATURES;PLUGINS"
    )
    foreach(word IN LISTS _halide_core_absent ITEMS GRADIENT_DESCENT PLUGINS)
        if(ARG_${word})
            message(FATAL_ERROR "add_halide_library(${TARGET}): ${word} is not available yet.")
        endif()
    endforeach()
    if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_FROM)
        message(FATAL_ERROR "add_halide_library(${TARGET} FROM generators …): unknown: ${ARG_UNPARSED_ARGUMENTS}")
    endif()

    if(TARGET ${ARG_FROM})
        get_target_property(script ${ARG_FROM} HALIDE_CORE_SCRIPT)
        get_target_property(sources ${ARG_FROM} HALIDE_CORE_SOURCES)
    else()
        get_filename_component(script "${ARG_FROM}" ABSOLUTE)
        set(sources "${script}")
    endif()
    foreach(word GENERATOR FUNCTION_NAME)
        if(NOT ARG_${word})
            set(ARG_${word} ${TARGET})
        endif()
    endforeach()
    _halide_core_target(target "${ARG_TARGETS}" "${ARG_FEATURES}" no_runtime)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${TARGET}.halide")
    file(MAKE_DIRECTORY "${folder}")

    list(LENGTH ARG_TARGETS several)
    if(CMAKE_CROSSCOMPILING AND NOT ARG_TARGETS)
        set(ARG_C_BACKEND TRUE)
    endif()
    set(code "${folder}/${TARGET}.o")
    set(kinds object c_header)
    if(several GREATER 1)
        set(code "${folder}/${TARGET}.a")
        set(kinds static_library c_header)
    elseif(ARG_C_BACKEND)
        set(code "${folder}/${TARGET}.halide_generated.c")
        set(kinds c_source c_header)
    endif()
    set(files "${code}" "${folder}/${TARGET}.h")
    foreach(extra IN LISTS _halide_core_extras)
        if(ARG_${extra})
            string(TOLOWER ${extra} kind)
            list(APPEND kinds ${kind})
            list(APPEND files "${folder}/${TARGET}${_halide_core_${extra}}")
            set(${ARG_${extra}} "${TARGET}.halide/${TARGET}${_halide_core_${extra}}" PARENT_SCOPE)
        endif()
    endforeach()
    list(REMOVE_DUPLICATES kinds)
    list(REMOVE_DUPLICATES files)
    list(JOIN kinds "," kinds)
    if(ARG_AUTOSCHEDULER)
        list(APPEND ARG_PARAMS autoscheduler=${ARG_AUTOSCHEDULER})
    endif()
    add_custom_command(
        OUTPUT ${files}
        COMMAND ${HALIDE_CORE_COMMAND} generate "${script}" -g ${ARG_GENERATOR} -f ${ARG_FUNCTION_NAME} -n ${TARGET}
            -o "${folder}" -e ${kinds} target=${target} ${ARG_PARAMS}
        DEPENDS ${sources} ${ARG_DEPENDS}
        COMMENT "Compiling the Generator ${ARG_GENERATOR} for ${target}" VERBATIM
    )
    if(code MATCHES "\\.c$")
        set_source_files_properties("${code}" PROPERTIES GENERATED TRUE COMPILE_OPTIONS "${_halide_core_options}")
    elseif(code MATCHES "\\.o$")
        set_source_files_properties("${code}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    endif()
    _halide_core_objects(${TARGET} "${folder}" "${ARG_NO_THREADS}" "${code}")
    set_target_properties(${TARGET} PROPERTIES HALIDE_CORE_FUNCTION ${ARG_FUNCTION_NAME})

    if(NOT ARG_USE_RUNTIME)
        set(ARG_USE_RUNTIME ${TARGET}.runtime)
        set(threads "")
        if(ARG_NO_THREADS)
            set(threads NO_THREADS)
        endif()
        add_halide_runtime(${ARG_USE_RUNTIME} TARGETS ${ARG_TARGETS} FEATURES ${ARG_FEATURES} ${threads})
    endif()
    target_link_libraries(${TARGET} INTERFACE ${ARG_USE_RUNTIME})
    target_include_directories(${TARGET} INTERFACE "$<TARGET_PROPERTY:${ARG_USE_RUNTIME},INTERFACE_INCLUDE_DIRECTORIES>")
    if(code MATCHES "\\.c$")
        target_link_libraries(${TARGET} PRIVATE ${ARG_USE_RUNTIME})
    endif()
    if(ARG_HEADER)
        set(${ARG_HEADER} "${TARGET}.halide/${TARGET}.h" PARENT_SCOPE)
    endif()
    if(ARG_PYTHON_EXTENSION)
        _halide_core_module("${folder}/${TARGET}.py.c" ${TARGET} ${ARG_FUNCTION_NAME})
        set(${ARG_PYTHON_EXTENSION} "${TARGET}.halide/${TARGET}.py.c" PARENT_SCOPE)
    endif()
endfunction()

# The source of a Python module of functions.
function(_halide_core_module FILE NAME)
    add_custom_command(
        OUTPUT "${FILE}" COMMAND ${HALIDE_CORE_COMMAND} python-module ${NAME} ${ARGN} -o "${FILE}"
        COMMENT "Writing the Python module ${NAME}" VERBATIM
    )
endfunction()

# add_halide_python_extension_library(target [MODULE_NAME name] HALIDE_LIBRARIES library…): a module of their functions,
# <name>.abi3.so, for every CPython from 3.10 on. Nothing of Python is needed to build it.
function(add_halide_python_extension_library TARGET)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "MODULE_NAME" "HALIDE_LIBRARIES")
    if(NOT ARG_HALIDE_LIBRARIES OR ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "add_halide_python_extension_library(${TARGET} HALIDE_LIBRARIES library…)")
    endif()
    if(NOT ARG_MODULE_NAME)
        set(ARG_MODULE_NAME ${TARGET})
    endif()
    set(functions "")
    foreach(library IN LISTS ARG_HALIDE_LIBRARIES)
        get_target_property(function ${library} HALIDE_CORE_FUNCTION)
        list(APPEND functions ${function})
    endforeach()
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${TARGET}.halide/${ARG_MODULE_NAME}.py.c")
    _halide_core_module("${source}" ${ARG_MODULE_NAME} ${functions})
    add_library(${TARGET} MODULE "${source}")
    set_target_properties(${TARGET} PROPERTIES PREFIX "" SUFFIX ".abi3.so" OUTPUT_NAME ${ARG_MODULE_NAME})
    target_compile_options(${TARGET} PRIVATE -std=gnu11)
    target_link_libraries(${TARGET} PRIVATE ${ARG_HALIDE_LIBRARIES})
    if(APPLE)
        target_link_options(${TARGET} PRIVATE -undefined dynamic_lookup)
    else()
        target_link_options(${TARGET} PRIVATE -Wl,--exclude-libs,ALL)
    endif()
endfunction()
